import { apiVersion } from '@valkey-operator/api';
import { KubeClient } from '@valkey-operator/kube';
import { FakeApi, settle } from '@valkey-operator/kube/testing';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createCaches, listCaches } from '../caches.ts';
import { aCluster, aPod, CLUSTER_PATH, namespace } from '../testing/builders.ts';
import { subscribeWakeUps } from './wake-ups.ts';

const POD_PATH = `/api/v1/namespaces/${namespace}/pods/demo-0`;
const defaultsIn = (place: string) =>
  `/apis/${apiVersion}/namespaces/${place}/valkeyclusterdefaults/valkey-operator-defaults`;
const node = (status: string) => ({ kind: 'Node', status: { conditions: [{ type: 'Ready', status }] } });
const pod = { ...aPod('demo-0'), spec: { nodeName: 'node-1' } };
const trial = {
  metadata: { name: 'demo-trial', labels: { 'valkey.io/cr': 'demo-trial' }, annotations: { 'valkey.io/cr': 'demo' } },
};

let api: FakeApi;
let heard: string[];

beforeEach(async () => {
  api = new FakeApi();
  heard = [];
  api.put(CLUSTER_PATH, { ...aCluster() });
  api.put(POD_PATH, pod);
  api.put('/api/v1/nodes/node-1', node('True'));
  const client = new KubeClient({ transport: api.transport });
  const caches = createCaches({ client, namespace: 'ops', watchNamespaces: [namespace], onError: () => {} });
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  for (const [, cache] of listCaches(caches)) void cache.run(stop.signal);
  await Promise.all(listCaches(caches).map(([, cache]) => cache.whenSynced()));
  await settle();
  subscribeWakeUps(
    caches,
    ({ name }) => heard.push(`wake ${name}`),
    ({ name }) => heard.push(`changed ${name}`),
    'ops',
  );
});

async function after(change: () => unknown): Promise<string[]> {
  change();
  await settle();
  return heard;
}

describe('a cluster is looked at', () => {
  test.each([
    ['its spec changes', () => api.put(CLUSTER_PATH, { ...aCluster({ generation: 2 }) }), 'changed demo'],
    ['it is annotated', () => api.put(CLUSTER_PATH, { ...aCluster({ annotations: { a: 'b' } }) }), 'changed demo'],
    ['it is gone', () => api.remove(CLUSTER_PATH), 'changed demo'],
    [
      'only its status changes',
      () => api.put(CLUSTER_PATH, { ...aCluster(), status: { phase: 'Running' } }),
      'wake demo',
    ],
    ['a pod of it changes', () => api.put(POD_PATH, { ...pod, status: { phase: 'Running' } }), 'wake demo'],
    ['a pod of it is gone', () => api.remove(POD_PATH), 'wake demo'],
    [
      'a pod changes that is no node of it',
      () => api.put(POD_PATH.replace('demo-0', 'demo-trial'), trial),
      'wake demo',
    ],
    ['the defaults of its namespace change', () => api.put(defaultsIn(namespace), {}), 'changed demo'],
    ['the defaults of the operator change', () => api.put(defaultsIn('ops'), {}), 'changed demo'],
    ['the node of a pod is not ready any more', () => api.put('/api/v1/nodes/node-1', node('False')), 'wake demo'],
    [
      'the node of a pod is cordoned',
      () => api.put('/api/v1/nodes/node-1', { ...node('True'), spec: { unschedulable: true } }),
      'wake demo',
    ],
    ['the node of a pod is gone', () => api.remove('/api/v1/nodes/node-1'), 'wake demo'],
  ])('when %s', async (_, change, expected) => {
    expect(await after(change)).toEqual([expected]);
  });

  test.each([
    ['a kubelet says that all is as before', () => api.put('/api/v1/nodes/node-1', { ...node('True'), spec: {} })],
    ['a node changes that has no pod of it', () => api.put('/api/v1/nodes/node-2', node('False'))],
    ['a pod of nobody changes', () => api.put(`/api/v1/namespaces/${namespace}/pods/x`, { metadata: { name: 'x' } })],
  ])('not when %s', async (_, change) => {
    expect(await after(change)).toEqual([]);
  });
});
