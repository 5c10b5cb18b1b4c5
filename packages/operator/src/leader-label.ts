import { group } from '@valkey-operator/api';
import { type KubeClient, pods } from '@valkey-operator/kube';

/** The gateway's Service selects the pod with this label, so that sidecars reach the leader and nobody else. */
export const LEADER_LABEL = `${group}/leader`;

export async function setLeaderLabel(
  client: KubeClient,
  namespace: string,
  name: string,
  leads: boolean,
): Promise<void> {
  await client.mergePatch(
    pods,
    { namespace, name },
    { metadata: { labels: { [LEADER_LABEL]: leads ? 'true' : null } } },
  );
}
