import { describe, expect, it } from 'vitest';
import type { NodeWord } from './ask-node.ts';
import { isElectable } from './electable.ts';
import { aNode } from './testing/cluster-nodes.ts';

const heir = aNode('heir', { primaryId: 'a', ip: '10.0.0.9' });
const primaries = ['a', 'b', 'c'].map((id, index) => aNode(id, { slots: `${index}` }));
const shards = [['a', 'heir'], ['b'], ['c']];

/** Every node knows all, but for these words. */
function judge(changed: Record<string, Partial<NodeWord> | undefined>): Promise<boolean> {
  return isElectable(heir, [heir, ...primaries], async ({ id }) => {
    if (id in changed && changed[id] === undefined) throw new Error('no answer');
    const table = [heir, ...primaries].map((node) => (node.id === id ? { ...node, myself: true } : node));
    return { nodes: table, shards, ...changed[id] };
  });
}

const seeing = (id: string, line: object) => ({
  nodes: [{ ...aNode(id, { slots: '0' }), myself: true }, aNode('heir', { primaryId: 'a', ip: '10.0.0.9', ...line })],
});

describe('a replica that shall take over', () => {
  it('is elected when its primary accepts it and a majority can send it their vote', async () => {
    expect(await judge({})).toBe(true);
    expect(await judge({ c: undefined })).toBe(true);
    expect(await judge({ b: seeing('b', { linkConnected: false }) })).toBe(true);
  });

  it.each([
    ['its primary takes it for a replica of another', { a: seeing('a', { primaryId: 'b' }) }],
    ['its primary counts it to another shard', { a: { shards: [['a'], ['heir'], ['b'], ['c']] } }],
    ['its primary does not reach it', { a: seeing('a', { linkConnected: false }) }],
    ['its primary does not answer', { a: undefined }],
    ['others have its old address', { b: seeing('b', { ip: '10.0.0.3' }), c: seeing('c', { ip: '10.0.0.3' }) }],
    [
      'others have yet to hear that it is a replica',
      { b: seeing('b', { primaryId: undefined }), c: seeing('c', { primaryId: undefined }) },
    ],
    ['it does not answer itself', { heir: undefined }],
  ])('is not while %s', async (_name, changed) => {
    expect(await judge(changed)).toBe(false);
  });

  it('is not by a majority of those alone that it has heard of', async () => {
    const ask = async ({ id }: { id: string }) => {
      const known = id === 'heir' ? [heir, primaries[0]!] : [heir, ...primaries];
      return { nodes: known.map((node) => (node.id === id ? { ...node, myself: true } : node)), shards };
    };
    expect(await isElectable(heir, [heir, primaries[0]!], ask)).toBe(false);
    expect(await isElectable(heir, [heir, ...primaries.slice(0, 2)], ask)).toBe(true);
  });
});
