import type { SlotMove } from '@valkey-operator/valkey';

/**
 * Of the moves that are wanted, those that may begin beside the others: while slots arrive at a node it gives none away. It
 * claims what arrives under a new epoch, and with it all that it takes for its own. A slot that it has just given away may
 * still be among that; its new owner would hear of a later claim, let go of the slot, and delete its keys.
 */
export function keepOneWay(wanted: readonly SlotMove[], running: readonly SlotMove[]): SlotMove[] {
  const chosen: SlotMove[] = [];
  for (const move of wanted) {
    const isContrary = [...running, ...chosen].some(({ from, to }) => from === move.to || to === move.from);
    if (!isContrary) chosen.push(move);
  }
  return chosen;
}
