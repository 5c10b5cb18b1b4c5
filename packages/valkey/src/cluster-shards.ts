import { expectArray, expectMap, expectText, type RespValue } from './resp/value.ts';

/**
 * Reads of CLUSTER SHARDS who is in a shard with whom, by id. It says more than who follows whom: a node believes what others
 * announce of their shard, which may lag behind.
 */
export function parseClusterShards(reply: RespValue): string[][] {
  return expectArray(reply).map((shard) =>
    expectArray(expectMap(shard).get('nodes')).map((node) => expectText(expectMap(node).get('id'))),
  );
}
