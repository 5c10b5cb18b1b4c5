import { FailoverMode, RefusalReason } from '@valkey-operator/rpc';
import { expect, it } from 'vitest';
import { refusedBy, replicaOf, run } from '../testing/run-command.ts';
import { ScriptedNode } from '../testing/scripted-node.ts';
import { failover } from './failover.ts';
import { refuseWhile } from './observe.ts';

it('nothing is begun while the pod is being terminated', async () => {
  const node = new ScriptedNode({ myself: replicaOf('p') });
  const { failover: guarded } = refuseWhile(() => true, { failover: failover(node) });
  const outcome = guarded && (await run(guarded, 'failover', { mode: FailoverMode.FORCE }));
  expect(outcome).toMatchObject(refusedBy(RefusalReason.TERMINATING));
  expect(node.commands).toEqual([]);
});
