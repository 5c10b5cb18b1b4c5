import { apiVersion, builtInDefaults } from '@valkey-operator/api';
import { KubeClient } from '@valkey-operator/kube';
import { FakeApi } from '@valkey-operator/kube/testing';
import { expect, onTestFinished, test } from 'vitest';
import { createCaches } from './caches.ts';
import { createOperatorDefaults } from './operator-defaults.ts';

const PATH = `/apis/${apiVersion}/namespaces/ops/valkeyclusterdefaults/valkey-operator-defaults`;

async function create(api: FakeApi): Promise<void> {
  const client = new KubeClient({ transport: api.transport });
  const caches = createCaches({ client, namespace: 'ops', watchNamespaces: ['apps'], onError: () => {} });
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  void caches.defaults.run(stop.signal);
  await caches.defaults.whenSynced();
  await createOperatorDefaults(client, caches, 'ops');
}

test('defaults are written out at the first start, but for the image that follows the operator', async () => {
  const api = new FakeApi();
  await create(api);
  const { sidecarImage: _, ...spec } = builtInDefaults;
  expect(api.get(PATH)).toMatchObject({ spec });
  expect(JSON.stringify(api.get(PATH))).not.toContain('sidecar');
});

test('defaults that are there are never touched', async () => {
  const api = new FakeApi();
  api.put(PATH, { spec: { masterCount: 5 } });
  await create(api);
  expect(api.get(PATH)).toMatchObject({ spec: { masterCount: 5 } });
  expect(api.requests.every(({ method }) => method === 'GET')).toBe(true);
});
