import { group } from '@valkey-operator/api';
import { isKubeError, type KubeClient, pods } from '@valkey-operator/kube';

/** The gateway's Service selects the pod with this label, so that sidecars reach the leader and nobody else. */
export const LEADER_LABEL = `${group}/leader`;

/** Move the label here, also away from a leader that was killed or is frozen and cannot give it up. */
export async function takeLeaderLabel(client: KubeClient, namespace: string, name: string): Promise<void> {
  const labelled = await client.list(pods, { namespace, labelSelector: LEADER_LABEL });
  const others = labelled.items.filter(({ metadata }) => metadata.name !== name);
  await Promise.all([
    setLabel(client, namespace, name, 'true'),
    ...others.map(({ metadata }) => dropLeaderLabel(client, namespace, metadata.name)),
  ]);
}

export async function dropLeaderLabel(client: KubeClient, namespace: string, name: string): Promise<void> {
  try {
    await setLabel(client, namespace, name, null);
  } catch (error) {
    if (!isKubeError(error, 'NotFound')) throw error;
  }
}

async function setLabel(client: KubeClient, namespace: string, name: string, value: 'true' | null): Promise<void> {
  await client.mergePatch(pods, { namespace, name }, { metadata: { labels: { [LEADER_LABEL]: value } } });
}
