import { apiVersion, builtInDefaults } from '@valkey-operator/api';
import { KubeClient } from '@valkey-operator/kube';
import { FakeApi } from '@valkey-operator/kube/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createCaches, listCaches } from '../caches.ts';
import { Authorities } from '../certificates/authorities.ts';
import { aCluster, aPod, aReport, effectiveSpec, namespace } from '../testing/builders.ts';
import { operator } from '../testing/plans.ts';
import { ReportBook } from '../wire/report-book.ts';
import { observeCluster } from './observe.ts';
import { RefusalBook } from './refusal-book.ts';
import { RepairBook } from './repair-book.ts';

const CORE = `/api/v1/namespaces/${namespace}`;
const STATEFUL_SET = `/apis/apps/v1/namespaces/${namespace}/statefulsets/demo`;
const DEFAULTS = 'valkeyclusterdefaults/valkey-operator-defaults';
const labels = { 'valkey.io/cr': 'demo' };
const ownedBy = (uid: string) => [{ apiVersion, kind: 'ValkeyCluster', name: 'demo', uid, controller: true }];

async function observe(prepare: (api: FakeApi, client: KubeClient, authorities: Authorities) => Promise<void> | void) {
  const api = new FakeApi();
  const client = new KubeClient({ transport: api.transport });
  const authorities = await Authorities.load({ client, namespace: 'ops', trustDomain: operator.trustDomain });
  await prepare(api, client, authorities);
  const caches = createCaches({ client, namespace: 'ops', watchNamespaces: [namespace], onError: () => {} });
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  for (const [, cache] of listCaches(caches)) void cache.run(stop.signal);
  await Promise.all(listCaches(caches).map(([, cache]) => cache.whenSynced()));
  const reports = new ReportBook();
  reports.receive(aReport({ readiness: { ready: true } }));
  const sessions = { find: () => undefined };
  const before = api.requests.length;
  const context = {
    client,
    caches,
    reports,
    sessions,
    authorities,
    operator,
    repairs: new RepairBook(),
    refusals: new RefusalBook(),
    now: Date.now,
  };
  const snapshot = await observeCluster(context, aCluster());
  return { snapshot, asked: api.requests.slice(before).map(({ path }) => path.split('/').slice(-2).join('/')) };
}

describe('a snapshot', () => {
  test('has the defaults of the operator below those of the namespace, below the cluster itself', async () => {
    const { snapshot } = await observe((api) => {
      const spec = { masterCount: 5, replicasPerMaster: 2 };
      api.put(`/apis/${apiVersion}/namespaces/ops/${DEFAULTS}`, { spec });
      api.put(`/apis/${apiVersion}/namespaces/${namespace}/${DEFAULTS}`, { spec: { masterCount: 7 } });
    });
    expect(snapshot.spec).toMatchObject({ masterCount: 7, replicasPerMaster: 2, resources: builtInDefaults.resources });
  });

  test('has each pod with its zone and what its sidecar said', async () => {
    const { snapshot } = await observe((api) => {
      api.put('/api/v1/nodes/node-1', { metadata: { name: 'node-1', labels: { 'topology.kubernetes.io/zone': 'a' } } });
      api.put(`${CORE}/pods/demo-0`, { ...aPod('demo-0'), spec: { nodeName: 'node-1', containers: [] } }, 'demo-0-uid');
    });
    expect(snapshot.pods).toMatchObject([{ name: 'demo-0', zone: 'a', ip: '10.0.0.1', report: { ready: true } }]);
    expect(snapshot.kubernetesNodes).toEqual([{ name: 'node-1', zone: 'a', ready: false }]);
  });

  test('has the pod on which settings are proven apart from its nodes', async () => {
    const trial = { ...aPod('demo-trial'), status: { phase: 'Failed' } };
    const metadata = {
      ...trial.metadata,
      labels: { 'valkey.io/cr': 'demo-trial' },
      ownerReferences: ownedBy('cluster-uid'),
    };
    const { snapshot } = await observe((api) => void api.put(`${CORE}/pods/demo-trial`, { ...trial, metadata }));
    expect(snapshot.trial).toMatchObject({ name: 'demo-trial', verdict: 'void' });
    expect(snapshot.pods).toEqual([]);
  });

  test('does not have the last pods of a deleted cluster of the same name', async () => {
    const controller = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'demo', uid: 'set-uid', controller: true };
    const pods = (setOwner: string) =>
      observe((api) => {
        api.put(STATEFUL_SET, { metadata: { name: 'demo', labels, ownerReferences: ownedBy(setOwner) } }, 'set-uid');
        const { metadata } = aPod('demo-0');
        api.put(`${CORE}/pods/demo-0`, { metadata: { ...metadata, ownerReferences: [controller] } });
      });
    expect((await pods('cluster-uid')).snapshot.pods).toHaveLength(1);
    expect((await pods('former-cluster-uid')).snapshot.pods).toHaveLength(0);
  });

  test('does not have them when their StatefulSet is gone already', async () => {
    const controller = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'demo', uid: 'gone-uid', controller: true };
    const pods = (creationTimestamp: string) =>
      observe((api) => {
        const metadata = { ...aPod('demo-0').metadata, creationTimestamp, ownerReferences: [controller] };
        api.put(`${CORE}/pods/demo-0`, { metadata });
      });
    const { creationTimestamp } = aCluster().metadata;
    expect((await pods(creationTimestamp)).snapshot.pods).toHaveLength(1);
    const earlier = new Date(Date.parse(creationTimestamp) - 1000).toISOString();
    expect((await pods(earlier)).snapshot.pods).toHaveLength(0);
  });

  test("has somebody's own object that bears a name the cluster needs, which no cache shows", async () => {
    const { snapshot, asked } = await observe((api) => api.put(STATEFUL_SET, { kind: 'StatefulSet' }) && undefined);
    expect(snapshot.children.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual(['StatefulSet demo']);
    expect(asked).toContain('statefulsets/demo');
  });

  test('says what certificates there are, and holds no secret of any kind', async () => {
    const owner = { metadata: aCluster().metadata, spec: effectiveSpec };
    const { snapshot } = await observe(async (_api, client, authorities) => {
      await authorities.issueIntermediate(client, owner);
      await authorities.issueSidecarCertificate(client, owner);
    });
    expect(snapshot.certificates).toMatchObject({
      intermediate: { secret: 'demo-ca' },
      sidecar: { secret: 'demo-sidecar-mtls' },
    });
    const text = JSON.stringify(snapshot);
    expect(text).not.toContain('tls.key');
    expect(text).not.toContain(Buffer.from('PRIVATE KEY').toString('base64').slice(0, 8));
  });
});
