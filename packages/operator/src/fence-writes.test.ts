import { configMaps, KubeClient } from '@valkey-operator/kube';
import { FakeApi } from '@valkey-operator/kube/testing';
import { describe, expect, test } from 'vitest';
import { fenceWrites } from './fence-writes.ts';
import { FakeLeadership } from './testing/builders.ts';

const ref = { namespace: 'apps', name: 'a' };
const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: ref } as const;

describe('the fence', () => {
  test('lets the leader write, and nobody whose term is over, though everybody may read', async () => {
    const api = new FakeApi();
    const leadership = new FakeLeadership();
    const client = new KubeClient({ transport: fenceWrites(api.transport, leadership) });
    await client.create(configMaps, object);
    leadership.valid = false;
    for (const write of [
      () => client.apply(configMaps, object),
      () => client.create(configMaps, { ...object, metadata: { ...ref, name: 'b' } }),
      () => client.mergePatch(configMaps, ref, { data: {} }),
      () => client.delete(configMaps, ref),
    ]) {
      await expect(write()).rejects.toThrow('does not lead any more');
    }
    expect(await client.get(configMaps, ref)).toBeDefined();
    expect(api.requests.map(({ method }) => method)).toEqual(['POST', 'GET']);
  });
});
