import { expect, it } from 'vitest';
import { parseClusterShards } from './cluster-shards.ts';

it('tells who is in a shard with whom', () => {
  const node = (id: string) => new Map([['id', id]]);
  const shard = (...ids: string[]) =>
    new Map<string, (number | Map<string, string>)[]>([
      ['slots', [0, 99]],
      ['nodes', ids.map(node)],
    ]);
  expect(parseClusterShards([shard('a', 'b'), shard('c')])).toEqual([['a', 'b'], ['c']]);
});
