import { FailureReason } from '@valkey-operator/rpc';
import { describe, expect, it } from 'vitest';
import { aNode } from '../testing/cluster-nodes.ts';
import { failedBy, primary, run, unchanged } from '../testing/run-command.ts';
import { ScriptedNode } from '../testing/scripted-node.ts';
import { meet } from './meet.ts';

describe('meet', () => {
  const peers = [{ nodeId: 'new', ip: '10.0.0.3', port: 6379, busPort: 16_379 }];

  it('is done when the peer is known by its id and the link to it is up', async () => {
    const node = new ScriptedNode({ myself: primary }, (_command, it) => {
      it.show({ peers: [aNode('new', { handshake: true })] });
      queueMicrotask(() => it.show({ peers: [aNode('new')] }));
      return undefined;
    });
    expect(await run(meet(node), 'meet', { peers })).toBeUndefined();
    expect(node.commands).toEqual(['CLUSTER MEET 10.0.0.3 6379 16379']);
  });

  it('greets nobody who is known', async () => {
    const node = new ScriptedNode({ myself: primary, peers: [aNode('new')] });
    expect(await run(meet(node), 'meet', { peers })).toMatchObject(unchanged);
    expect(node.commands).toEqual([]);
  });

  it('greets a peer that is known by another address, however connected its link is said to be', async () => {
    const node = new ScriptedNode({ myself: primary, peers: [aNode('new', { ip: '10.0.0.9' })] }, (_command, it) => {
      it.show({ peers: [aNode('new')] });
      return undefined;
    });
    expect(await run(meet(node), 'meet', { peers })).toBeUndefined();
    expect(node.commands).toEqual(['CLUSTER MEET 10.0.0.3 6379 16379']);
  });

  it('fails with a timeout when the peer never answers', async () => {
    const node = new ScriptedNode({ myself: primary });
    const outcome = run(meet(node), 'meet', { peers }, AbortSignal.abort());
    expect(await outcome).toMatchObject(failedBy(FailureReason.TIMED_OUT));
  });
});
