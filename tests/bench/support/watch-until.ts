import type { KubeClient, KubeObject, Live, Resource } from '@valkey-operator/kube';

const PATIENCE_SECONDS = 300;

/** Follows an object from the version given until it holds; told by the API server, so that the watcher adds no delay. */
export async function watchUntil<T extends KubeObject>(
  client: KubeClient,
  resource: Resource<T>,
  { metadata: { namespace, name, resourceVersion } }: Live,
  holds: (object: Live<T>) => boolean,
): Promise<void> {
  for await (const event of client.watch(resource, {
    namespace,
    fieldSelector: `metadata.name=${name}`,
    resourceVersion,
    timeoutSeconds: PATIENCE_SECONDS,
  })) {
    if (event.type !== 'BOOKMARK' && holds(event.object)) return;
  }
  throw new Error(`${resource.kind} ${name} was not as expected within ${PATIENCE_SECONDS} s`);
}
