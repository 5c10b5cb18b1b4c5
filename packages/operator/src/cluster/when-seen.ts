import type { KubeObject, Live, ObjectRef, ResourceCache } from '@valkey-operator/kube';

const PATIENCE_MS = 2_000;

/**
 * Wait until a cache shows what was just written, or something newer. Else the next plan would be made from before the
 * write, and repeat it. A cache that is behind for longer is not waited for: what is done twice is idempotent.
 */
export function whenSeen(cache: Seeing<KubeObject>, written: Live, patienceMs?: number): Promise<void> {
  return whenShown(cache, written.metadata, (seen) => isAtLeast(seen, written), patienceMs);
}

type Seeing<T extends KubeObject> = Pick<ResourceCache<T>, 'get' | 'subscribe'>;

/** The same for what is not told by a version, such as that an object is gone. */
export function whenShown<T extends KubeObject>(
  cache: Seeing<T>,
  ref: ObjectRef,
  isAsWritten: (seen: Live<T> | undefined) => boolean,
  patienceMs: number = PATIENCE_MS,
): Promise<void> {
  const isSeen = (): boolean => isAsWritten(cache.get(ref));
  if (isSeen()) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      unsubscribe();
      resolve();
    };
    const timer = setTimeout(end, patienceMs);
    const unsubscribe = cache.subscribe(({ object }) => {
      if (object.metadata.name === ref.name && isSeen()) end();
    });
  });
}

/** Versions of one kind of object grow; Kubernetes promises as much since 1.35, and it was never otherwise with etcd. */
function isAtLeast(seen: Live | undefined, written: Live): boolean {
  return seen !== undefined && BigInt(seen.metadata.resourceVersion) >= BigInt(written.metadata.resourceVersion);
}
