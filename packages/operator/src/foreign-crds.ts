import { group, isForeignCrd } from '@valkey-operator/api';
import { customResourceDefinitions, type KubeClient } from '@valkey-operator/kube';

/** Another operator owns CRDs of the same group and kind: working on them would mean working on its clusters. */
export async function refuseForeignCrds(client: KubeClient): Promise<void> {
  const name = `valkeyclusters.${group}`;
  const crd = await client.get(customResourceDefinitions, { name });
  if (!crd) throw new Error(`the CRD ${name} is not installed: apply deploy/crds first`);
  if (isForeignCrd(crd)) {
    throw new Error(
      `the CRD ${name} belongs to another operator: remove that operator and its CRDs, or run this one in another Kubernetes cluster`,
    );
  }
}
