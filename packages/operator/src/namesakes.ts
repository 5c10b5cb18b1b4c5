import type { ValkeyCluster } from '@valkey-operator/api';
import { type ChildObject, childNames } from '@valkey-operator/core';
import { type KubeClient, services, type StatefulSet, statefulSets } from '@valkey-operator/kube';

/**
 * Objects that bear a name this cluster needs without being its children: somebody's own StatefulSet, say. They carry no
 * label of ours, so no cache has them; they are asked for by name, and only while the child does not exist.
 */
export async function findNamesakes(
  client: KubeClient,
  cluster: ValkeyCluster,
  known: readonly ChildObject[],
): Promise<ChildObject[]> {
  const { namespace, name } = cluster.metadata;
  const names = childNames(name);
  const needed = [
    { resource: statefulSets, name: names.statefulSet },
    { resource: services, name: names.clientService },
    { resource: services, name: names.headlessService },
  ];
  const missing = needed.filter(
    ({ resource, name: wanted }) =>
      !known.some((child) => child.kind === resource.kind && child.metadata.name === wanted),
  );
  const found = await Promise.all(
    missing.map(({ resource, name: wanted }) =>
      client.get<StatefulSet>(resource as typeof statefulSets, { namespace, name: wanted }),
    ),
  );
  return found.filter((object) => object !== undefined) as ChildObject[];
}
