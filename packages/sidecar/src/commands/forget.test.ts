import { expect, it } from 'vitest';
import { aNode } from '../testing/cluster-nodes.ts';
import { primary, run, unchanged } from '../testing/run-command.ts';
import { ScriptedNode } from '../testing/scripted-node.ts';
import { forget } from './forget.ts';

it('forget leaves alone whom the node does not know', async () => {
  const node = new ScriptedNode({ myself: primary, peers: [aNode('old')] });
  await run(forget(node), 'forget', { nodeIds: ['old', 'unknown'] });
  expect(node.commands).toEqual(['CLUSTER FORGET old']);
  expect(await run(forget(node), 'forget', { nodeIds: ['unknown'] })).toMatchObject(unchanged);
});
