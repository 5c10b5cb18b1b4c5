import { SlotSet } from '@valkey-operator/valkey';
import type { NodeCommand } from '../actions.ts';
import type { SimulatedBus } from './simulated-bus.ts';
import type { SimulatedNode } from './simulated-node.ts';

/** So many slots move in a second. */
const SLOTS_PER_TICK = 700;

type MoveCommand = Extract<NodeCommand, { do: 'moveSlots' | 'cancelMove' | 'closeSlots' }>;

/** What a sidecar does at once when it is told to move slots, or not to. */
export function obeyMove(node: SimulatedNode, command: MoveCommand): boolean {
  const isMoving = node.move?.state === 'running';
  switch (command.do) {
    case 'moveSlots':
      if (isMoving || node.role !== 'primary') return false;
      node.move = beginMove(node, command);
      return true;
    case 'cancelMove':
      if (node.move && isMoving) node.move = { ...node.move, state: 'cancelled' };
      return true;
    case 'closeSlots':
      for (const slot of SlotSet.parse(command.slots)) {
        node.importing.delete(slot);
        node.migrating.delete(slot);
      }
      return true;
  }
}

function beginMove(
  node: SimulatedNode,
  { slots, target, method }: Extract<NodeCommand, { do: 'moveSlots' }>,
): NonNullable<SimulatedNode['move']> {
  const before = node.move;
  const failures = before?.state === 'failed' && before.targetId === target.nodeId ? before.failures : 0;
  const leftKeys = SlotSet.parse(slots).intersection(node.data).count;
  const nothing = { movedSlots: 0, movedKeys: 0, elapsedMs: 0, message: '', notableKeys: [] };
  return { state: 'running', method, targetId: target.nodeId, slots, leftKeys, failures, ...nothing };
}

/** What the sidecars and Valkey do in a second about moves that were begun. */
export function moveSlots(bus: SimulatedBus): void {
  for (const source of bus.nodes) {
    const { move } = source;
    if (move && move.state !== 'running') source.move = { ...move, overForMs: (move.overForMs ?? 0) + 1000 };
    if (move?.state !== 'running') continue;
    const target = bus.nodes.find(({ id }) => id === move.targetId);
    const isPossible = source.role === 'primary' && target?.role === 'primary' && knowEachOther(source, target);
    if (!target || !isPossible)
      source.move = { ...move, state: 'failed', failures: move.failures + 1, message: 'no target' };
    else advance(bus, source, target, move);
  }
}

function knowEachOther(one: SimulatedNode, other: SimulatedNode): boolean {
  return one.table.has(other.id) && other.table.has(one.id);
}

function advance(
  bus: SimulatedBus,
  source: SimulatedNode,
  target: SimulatedNode,
  move: NonNullable<SimulatedNode['move']>,
): void {
  const pending = SlotSet.parse(move.slots).intersection(source.slots);
  const chunk = pending.lowest(SLOTS_PER_TICK);
  const rest = pending.difference(chunk);
  transfer(bus, source, target, chunk);
  const [next] = rest;
  if (next !== undefined && move.method === 'by-key') {
    source.migrating.set(next, target.id);
    target.importing.set(next, source.id);
  }
  source.move = {
    ...move,
    state: rest.isEmpty ? 'done' : 'running',
    slots: rest.toString(),
    movedSlots: move.movedSlots + chunk.count,
    movedKeys: move.movedKeys + chunk.count,
    leftKeys: rest.count,
    elapsedMs: move.elapsedMs + 1000,
  };
}

function transfer(bus: SimulatedBus, source: SimulatedNode, target: SimulatedNode, slots: SlotSet): void {
  if (slots.isEmpty) return;
  const highest = bus.highestEpoch();
  if (target.epoch < highest || highest === 0) target.epoch = highest + 1;
  target.slots = target.slots.union(slots);
  target.data = target.data.union(source.data.intersection(slots));
  target.offset += 1;
  source.slots = source.slots.difference(slots);
  source.data = source.data.difference(slots);
  source.offset += 1;
  for (const slot of slots) {
    source.migrating.delete(slot);
    target.importing.delete(slot);
  }
  tellShards(bus, [source, target]);
}

/** Valkey replicates a change of owners: the replicas of both ends know of it when their primaries do. */
function tellShards(bus: SimulatedBus, ends: readonly SimulatedNode[]): void {
  const ids = ends.map(({ id }) => id);
  for (const { id, primaryId, table } of bus.nodes) {
    if (!ids.includes(id) && !ids.includes(primaryId ?? '')) continue;
    for (const end of ends) {
      const line = table.get(end.id);
      if (line) Object.assign(line, { slots: end.slots, epoch: end.epoch });
    }
  }
}
