import type { ValkeyFacts } from '../valkey-facts.ts';
import type { MoveProgress } from './slot-mover.ts';

/**
 * What has become of a move is in the table of the node. As long as that was asked for before the end of the move, this is told to be
 * running: else slots that have just arrived at their target would seem to be where they were, with nothing under way.
 */
export function asTold(
  move: MoveProgress | undefined,
  facts: Pick<ValkeyFacts, 'askedAt'> | undefined,
): MoveProgress | undefined {
  if (move?.endedAt === undefined || !facts || facts.askedAt > move.endedAt) return move;
  const { endedAt: _, overForMs: __, ...rest } = move;
  return { ...rest, state: 'running' };
}
