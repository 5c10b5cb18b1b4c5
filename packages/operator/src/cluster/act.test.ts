import { create } from '@bufbuild/protobuf';
import type { Action, NodeAction } from '@valkey-operator/core';
import { KubeClient, type TransportRequest } from '@valkey-operator/kube';
import { FakeApi, json } from '@valkey-operator/kube/testing';
import { CommandResultSchema, FailureReason, RefusalReason } from '@valkey-operator/rpc';
import type { CommandRequest, OperatorSession } from '@valkey-operator/rpc/operator';
import { describe, expect, test } from 'vitest';
import { createMetrics } from '../metrics.ts';
import { noTracing } from '../tracing/orchestration-tracer.ts';
import { aCluster, FakeLeadership, quietLog } from '../testing/builders.ts';
import { aPlan, aSnapshot } from '../testing/plans.ts';
import { type ActContext, executePlan } from './act.ts';
import { CommandPace } from './command-pace.ts';
import { noCheckpoint } from './crash-points.ts';
import { RefusalBook } from './refusal-book.ts';
import { RepairBook } from './repair-book.ts';

type Outcome = Parameters<typeof create<typeof CommandResultSchema>>[1];

function aWorld({ outcome = { outcome: { case: 'done', value: {} } } }: { outcome?: Outcome } = {}) {
  const api = new FakeApi();
  const leadership = new FakeLeadership();
  const sent: CommandRequest[] = [];
  const claims: bigint[] = [];
  const send = async (request: CommandRequest) => {
    sent.push(request);
    return create(CommandResultSchema, outcome);
  };
  const issued: string[] = [];
  const issue = (what: string) => async () => {
    issued.push(what);
    return api.put(`/api/v1/namespaces/apps/secrets/${what}`, {}) as never;
  };
  const repairs = new RepairBook(() => 0);
  const refusals = new RefusalBook(() => 0);
  const metrics = createMetrics();
  const context: ActContext = {
    checkpoint: noCheckpoint,
    client: new KubeClient({ transport: api.transport }),
    caches: {
      children: new Map(),
      clusters: { get: () => undefined } as never,
      pods: { get: () => undefined } as never,
      secrets: { get: (ref: { name: string }) => api.get(`/api/v1/namespaces/apps/secrets/${ref.name}`) } as never,
    },
    sessions: {
      whenOpen: async (uid) => (uid === 'demo-0-uid' ? ({ send } as unknown as OperatorSession) : undefined),
    },
    pace: new CommandPace(),
    authorities: { issueIntermediate: issue('ca'), issueSidecarCertificate: issue('sidecar') },
    leadership,
    onStale: (epoch) => claims.push(epoch),
    repairs,
    refusals,
    metrics,
    tracing: noTracing,
    log: quietLog,
  };
  const execute = (stages: Action[][], { isCurrent = (): boolean => true, snapshot = aSnapshot() } = {}) =>
    executePlan(context, snapshot, aPlan(stages), isCurrent);
  const writes = () => api.requests.map(({ method, path }) => `${method} ${path.split('?')[0]}`);
  return { api, leadership, sent, claims, issued, execute, writes, repairs, refusals, metrics };
}

const replicate: NodeAction = {
  type: 'CommandNode',
  pod: 'demo-0',
  guard: { podUid: 'demo-0-uid', nodeId: 'n' },
  command: { do: 'replicate', primaryId: 'p' },
  reason: 'ReplicaAttached',
};
const child = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'demo-config', namespace: 'apps' }, data: {} };
const bodyOf = ({ body }: TransportRequest) => JSON.parse(body ?? '');

describe('a plan', () => {
  test('is carried out stage by stage', async () => {
    const { execute, issued } = aWorld();
    expect(await execute([[{ type: 'IssueIntermediate' }], [{ type: 'IssueSidecarCertificate' }]])).toBe('done');
    expect(issued).toEqual(['ca', 'sidecar']);
  });

  test('stops after a stage in which something failed, but does all of that stage', async () => {
    const { execute, issued, sent } = aWorld();
    const failing = { ...replicate, guard: { podUid: 'nobody' } };
    const stages = [[failing, { type: 'IssueIntermediate' } as const], [replicate]];
    await expect(execute(stages)).rejects.toThrow('no session to demo-0');
    expect([issued, sent]).toEqual([['ca'], []]);
  });

  test('is left when the cluster has changed since', async () => {
    const { execute, issued } = aWorld();
    const stages: Action[][] = [[{ type: 'IssueIntermediate' }], [{ type: 'IssueSidecarCertificate' }]];
    expect(await execute(stages, { isCurrent: () => false })).toBe('outdated');
    expect(issued).toEqual(['ca']);
  });

  test('does nothing at all in a process that does not lead any more', async () => {
    const { execute, leadership, sent, api } = aWorld();
    leadership.valid = false;
    await expect(execute([[replicate, { type: 'ApplyChild', object: child }]])).rejects.toThrow('does not lead');
    expect([sent, api.requests]).toEqual([[], []]);
  });
});

describe('an action', () => {
  test('applies a child under the one field manager', async () => {
    const { execute, api } = aWorld();
    await execute([[{ type: 'ApplyChild', object: child }]]);
    expect(api.requests[0]?.path).toBe(
      '/api/v1/namespaces/apps/configmaps/demo-config?fieldManager=valkey-operator&force=true',
    );
    expect(api.get('/api/v1/namespaces/apps/configmaps/demo-config')).toBeDefined();
  });

  test.each([
    [{ type: 'DeletePod', pod: 'demo-0', uid: 'u', reason: 'Healthy' }, '/api/v1/namespaces/apps/pods/demo-0'],
    [
      { type: 'DeleteClaim', claim: 'data-demo-0', uid: 'u' },
      '/api/v1/namespaces/apps/persistentvolumeclaims/data-demo-0',
    ],
    [
      { type: 'DeleteChild', kind: 'StatefulSet', apiVersion: 'apps/v1', name: 'demo', uid: 'u' },
      '/apis/apps/v1/namespaces/apps/statefulsets/demo',
    ],
  ] as [Action, string][])('%o deletes nothing but the object that was meant', async (action, path) => {
    const { execute, api, writes } = aWorld();
    await execute([[action]]);
    expect(writes()).toEqual([`DELETE ${path}`]);
    expect(bodyOf(api.requests[0]!).preconditions).toEqual({ uid: 'u' });
  });

  test('that puts back what somebody else has changed is counted, and only that', async () => {
    const { execute, repairs, metrics } = aWorld();
    await execute([[{ type: 'ApplyChild', object: child }], [{ type: 'ApplyChild', object: child, drift: 'data.x' }]]);
    await execute([[{ ...replicate, reason: 'DriftRepaired' }]]);
    expect(repairs.view('apps/demo')).toEqual([{ child: 'ConfigMap demo-config', count: 1, lastAt: 0 }]);
    const { values } = await metrics.driftRepairs.get();
    expect(values.map(({ labels, value }) => [labels.kind, value])).toEqual([
      ['ConfigMap', 1],
      ['Valkey', 1],
    ]);
  });

  test.each([
    [422, 'Invalid', ['ConfigMap demo-config']],
    [403, 'Forbidden', ['ConfigMap demo-config']],
    [500, 'InternalError', []],
    [409, 'Conflict', []],
  ])('that is answered with %i %s is remembered as refused: %o', async (code, reason, expected) => {
    const { execute, api, refusals } = aWorld();
    api.intercept = () => json(code, { kind: 'Status', code, reason, message: 'not like this' });
    await expect(execute([[{ type: 'ApplyChild', object: child }]])).rejects.toThrow('not like this');
    expect(refusals.view('apps/demo').map((each) => each.child)).toEqual(expected);
    api.intercept = () => undefined;
    await execute([[{ type: 'ApplyChild', object: child }]]);
    expect(refusals.view('apps/demo')).toEqual([]);
  });

  test('asks for a larger volume of the claim that was meant', async () => {
    const { api, execute } = aWorld();
    api.put('/api/v1/namespaces/apps/persistentvolumeclaims/data-demo-0', {});
    await execute([[{ type: 'GrowClaim', claim: 'data-demo-0', uid: 'u', storage: '2Gi' }]]).catch(() => undefined);
    expect(bodyOf(api.requests.at(-1)!)).toEqual({
      metadata: { uid: 'u' },
      spec: { resources: { requests: { storage: '2Gi' } } },
    });
  });

  test('labels the pod that was meant, and takes it easy when that is gone', async () => {
    const { execute, api } = aWorld();
    await execute([[{ type: 'LabelPod', pod: 'demo-0', uid: 'u', labels: { role: 'primary' } }]]);
    expect(bodyOf(api.requests[0]!)).toEqual({ metadata: { uid: 'u', labels: { role: 'primary' } } });
  });

  test.each([
    ['AddFinalizer', undefined, ['valkey.io/finalizer']],
    ['AddFinalizer', ['theirs'], ['theirs', 'valkey.io/finalizer']],
    ['RemoveFinalizer', ['valkey.io/finalizer', 'theirs'], ['theirs']],
  ] as const)('%s on %o leaves %o, unless somebody changed the list', async (type, present, expected) => {
    const { api, execute } = aWorld();
    api.intercept = () => json(200, {});
    const cluster = aCluster(present ? { finalizers: [...present] } : {});
    await execute([[{ type }]], { snapshot: aSnapshot({ cluster }) });
    expect(bodyOf(api.requests[0]!)).toEqual([
      { op: 'test', path: '/metadata/uid', value: 'cluster-uid' },
      { op: 'test', path: '/metadata/finalizers', value: present ?? null },
      { op: 'add', path: '/metadata/finalizers', value: expected },
    ]);
  });
});

describe('a command', () => {
  test('goes to the session of the very pod it was decided for', async () => {
    const { execute, sent } = aWorld();
    await execute([[replicate]]);
    expect(sent).toMatchObject([
      { guard: { podUid: 'demo-0-uid', nodeId: 'n' }, payload: { case: 'replicate', value: { primaryId: 'p' } } },
    ]);
    await expect(execute([[{ ...replicate, guard: { podUid: 'its-successor' } }]])).rejects.toThrow('no session');
  });

  test('that a guard refuses fails with the fact that does not hold', async () => {
    const guard = { fact: 'role', expected: 'replica', actual: 'primary' };
    const value = { reason: RefusalReason.GUARD, message: 'no', guard };
    const { execute, claims } = aWorld({ outcome: { outcome: { case: 'refusal', value } } });
    await expect(execute([[replicate]])).rejects.toThrow('demo-0 refused: no (role: expected replica, is primary)');
    expect(claims).toEqual([]);
  });

  test('that was refused is not sent again at once', async () => {
    const value = { reason: RefusalReason.GUARD, message: 'no' };
    const { execute, sent } = aWorld({ outcome: { outcome: { case: 'refusal', value } } });
    await expect(execute([[replicate]])).rejects.toThrow('demo-0 refused: no');
    await expect(execute([[replicate]])).rejects.toThrow('demo-0 refused this a moment ago');
    expect(sent).toHaveLength(1);
  });

  test('that Valkey refuses fails with what Valkey said', async () => {
    const value = { reason: FailureReason.VALKEY_ERROR, message: 'ERR Unknown node' };
    const { execute } = aWorld({ outcome: { outcome: { case: 'failure', value } } });
    await expect(execute([[replicate]])).rejects.toThrow('demo-0 failed: ERR Unknown node');
  });

  test('that is refused because a later leader was seen says so', async () => {
    const value = { reason: RefusalReason.STALE_EPOCH, message: 'old', highestEpoch: 12n };
    const { execute, claims } = aWorld({ outcome: { outcome: { case: 'refusal', value } } });
    await expect(execute([[replicate]])).rejects.toThrow('refused: old');
    expect(claims).toEqual([12n]);
  });

  test('that gets an answer of a later version is not taken for done', async () => {
    const { execute } = aWorld({ outcome: {} });
    await expect(execute([[replicate]])).rejects.toThrow('not known here');
  });
});
