import { type ChildObject, buildChildren, type ClusterSnapshot } from '@valkey-operator/core';
import type { KubeClient } from '@valkey-operator/kube';
import { childResource } from '../resources.ts';

/**
 * Objects that bear a name this cluster needs without being its children: somebody's own StatefulSet, say. They carry no
 * label of ours, so no cache has them; they are asked for by name, and only while the child does not exist.
 */
export async function findNamesakes(
  client: Pick<KubeClient, 'get'>,
  input: Pick<ClusterSnapshot, 'cluster' | 'spec' | 'operator'>,
  known: readonly ChildObject[],
): Promise<ChildObject[]> {
  const isKnown = ({ kind, metadata }: ChildObject): boolean =>
    known.some((child) => child.kind === kind && child.metadata.name === metadata.name);
  const missing = buildChildren(input).filter((child) => !isKnown(child));
  const found = await Promise.all(missing.map(({ kind, metadata }) => client.get(childResource(kind), metadata)));
  return found.filter((object) => object !== undefined) as ChildObject[];
}
