import { expect, it } from 'vitest';
import { listAccepted } from './accepted-replica.ts';

const table = `me 10.0.0.1:6379@16379 myself,master - 0 0 5 connected 0-99
settled 10.0.0.2:6379@16379 slave me 0 0 5 connected
elsewhere 10.0.0.3:6379@16379 slave me 0 0 5 connected
other 10.0.0.4:6379@16379 master - 0 0 6 connected 100-199
`;
const shard = (...ids: string[]) => new Map([['nodes', ids.map((id) => new Map([['id', id]]))]]);

it('accepts as its replicas those that follow it and that it counts to its own shard', async () => {
  const replies: Record<string, typeof table | ReturnType<typeof shard>[]> = {
    'CLUSTER NODES': table,
    'CLUSTER SHARDS': [shard('me', 'settled'), shard('elsewhere'), shard('other')],
  };
  expect(await listAccepted(async (...args) => replies[args.join(' ')]!)).toEqual(['settled']);
});
