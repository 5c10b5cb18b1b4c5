import { FailureReason } from '@valkey-operator/rpc';
import { describe, expect, it, vi } from 'vitest';
import { aNode } from '../testing/cluster-nodes.ts';
import { failedBy, replicaOf, run, unchanged } from '../testing/run-command.ts';
import { ScriptedNode } from '../testing/scripted-node.ts';
import { replicate } from './replicate.ts';

describe('replicate', () => {
  it('is done when the node says that it follows the primary', async () => {
    const node = new ScriptedNode({ myself: aNode('me', { myself: true }), peers: [aNode('p')] }, (_command, it) => {
      it.show({ myself: replicaOf('p') });
      return undefined;
    });
    expect(await run(replicate(node), 'replicate', { primaryId: 'p' })).toBeUndefined();
    expect(node.commands).toEqual(['CLUSTER REPLICATE p']);
  });

  it('is followed by looks until the link is up, which the command does not wait for', async () => {
    let looks = 0;
    const node = new ScriptedNode({ myself: aNode('me', { myself: true }), peers: [aNode('p')] }, (_command, it) => {
      it.show({ myself: replicaOf('p'), link: { up: false } });
      return undefined;
    });
    const watched = Object.assign(node, {
      refresh: ((refresh) => async () => {
        if ((looks += 1) === 6) node.show({ link: { up: true } });
        return refresh();
      })(node.refresh.bind(node)),
    });
    await run(replicate(watched), 'replicate', { primaryId: 'p' });
    expect(looks).toBeLessThan(6);
    await vi.waitFor(() => expect(looks).toBe(6));
  });

  it('waits until the other is known as a primary', async () => {
    const myself = aNode('me', { myself: true });
    const node = new ScriptedNode({ myself, peers: [aNode('p', { role: 'replica' })] });
    const outcome = run(replicate(node), 'replicate', { primaryId: 'p' }, AbortSignal.abort());
    expect(await outcome).toMatchObject(failedBy(FailureReason.TIMED_OUT));
    expect(node.commands).toEqual([]);
  });

  it('needs nothing where it does', async () => {
    const node = new ScriptedNode({ myself: replicaOf('p'), peers: [aNode('p')] });
    expect(await run(replicate(node), 'replicate', { primaryId: 'p' })).toMatchObject(unchanged);
  });
});
