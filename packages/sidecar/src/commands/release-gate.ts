import { GateDecision } from '@valkey-operator/rpc';
import type { ReleaseDecision, StartGate } from '../start-gate/start-gate.ts';
import { handler, InvalidCommandError } from './effect.ts';

const DECISIONS: Readonly<Record<number, ReleaseDecision>> = {
  [GateDecision.KEEP_DATA]: 'keep-data',
  [GateDecision.DISCARD_DATA]: 'discard-data',
  [GateDecision.NEW_NODE]: 'new-node',
};

export const releaseGate = (gate: Pick<StartGate, 'release'>) =>
  handler<'releaseGate'>(async ({ decision }) => {
    const order = DECISIONS[decision];
    if (!order) throw new InvalidCommandError('releaseGate needs a decision');
    if (!(await gate.release(order))) throw new InvalidCommandError('no Valkey waits at the start gate');
  });
