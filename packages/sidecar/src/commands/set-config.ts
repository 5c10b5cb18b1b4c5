import type { MemoryFiles } from '../node-memory.ts';
import { handler, type Node } from './effect.ts';

/** One CONFIG SET of all values: Valkey takes all of them or none. */
export const setConfig = (node: Node, memory: Pick<MemoryFiles, 'update'>) =>
  handler<'setConfig'>(async ({ values, configHash }) => {
    const words = Object.entries(values).flat();
    if (words.length > 0) await node.call('CONFIG', 'SET', ...words);
    if (configHash !== '') await memory.update({ runningHash: configHash });
  });
