import type { MemoryFiles } from '../node-memory.ts';
import { handler, type Node } from './effect.ts';

/** What a hard reset leaves behind is a new node: nothing of the old one may hold up its next start. */
export const reset = (node: Node, memory: Pick<MemoryFiles, 'forgetMembership'>) =>
  handler<'reset'>(async ({ hard }) => {
    await node.call('CLUSTER', 'RESET', hard ? 'HARD' : 'SOFT');
    await memory.forgetMembership();
    await node.refresh();
  });
