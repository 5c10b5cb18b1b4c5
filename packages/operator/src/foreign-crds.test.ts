import { annotations, product } from '@valkey-operator/api';
import { KubeClient } from '@valkey-operator/kube';
import { FakeApi } from '@valkey-operator/kube/testing';
import { describe, expect, test } from 'vitest';
import { refuseForeignCrds } from './foreign-crds.ts';

const PATH = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/valkeyclusters.valkey.io';

describe('the CRDs', () => {
  test.each([
    ['are not there', undefined, 'apply deploy/crds first'],
    ['belong to another operator', {}, 'belongs to another operator'],
  ])('stop the operator when they %s', async (_, found, message) => {
    const api = new FakeApi();
    if (found) api.put(PATH, { metadata: { name: 'valkeyclusters.valkey.io', annotations: found } });
    const client = new KubeClient({ transport: api.transport });
    await expect(refuseForeignCrds(client)).rejects.toThrow(message);
  });

  test('let it start when they are its own', async () => {
    const api = new FakeApi();
    const metadata = { name: 'valkeyclusters.valkey.io', annotations: { [annotations.product]: product } };
    api.put(PATH, { metadata });
    await refuseForeignCrds(new KubeClient({ transport: api.transport }));
    expect(api.requests).toHaveLength(1);
  });
});
