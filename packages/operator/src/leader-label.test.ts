import { KubeClient } from '@valkey-operator/kube';
import { FakeApi } from '@valkey-operator/kube/testing';
import { describe, expect, test } from 'vitest';
import { dropLeaderLabel, LEADER_LABEL, takeLeaderLabel } from './leader-label.ts';

const PODS = '/api/v1/namespaces/ops/pods';

function labelOf(api: FakeApi, pod: string): string | undefined {
  return api.get(`${PODS}/${pod}`)?.metadata.labels?.[LEADER_LABEL];
}

describe('the leader label', () => {
  test('moves to the new leader, also from one that can no longer give it up', async () => {
    const api = new FakeApi();
    api.put(`${PODS}/old`, { metadata: { name: 'old', labels: { [LEADER_LABEL]: 'true' } } });
    api.put(`${PODS}/new`, { metadata: { name: 'new', labels: { app: 'x' } } });
    await takeLeaderLabel(new KubeClient({ transport: api.transport }), 'ops', 'new');
    expect([labelOf(api, 'old'), labelOf(api, 'new')]).toEqual([undefined, 'true']);
  });

  test('is given up with the lease, and that is no trouble when the pod is gone', async () => {
    const api = new FakeApi();
    const client = new KubeClient({ transport: api.transport });
    api.put(`${PODS}/me`, { metadata: { name: 'me', labels: { [LEADER_LABEL]: 'true' } } });
    await dropLeaderLabel(client, 'ops', 'me');
    expect(labelOf(api, 'me')).toBeUndefined();
    await expect(dropLeaderLabel(client, 'ops', 'gone')).resolves.toBeUndefined();
  });
});
