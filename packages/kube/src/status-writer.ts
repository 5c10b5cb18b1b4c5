import { isDeepStrictEqual } from 'node:util';
import type { CallOptions } from './api-call.ts';
import type { KubeClient } from './client.ts';
import { isKubeError } from './error.ts';
import type { KubeObject, Live } from './object.ts';
import type { Resource } from './resource.ts';

/**
 * `stale`: the object has changed since it was read, or another has its name; plan again from the newer one, whose event is on
 * its way. `missing`: it is gone.
 */
export type StatusWrite = 'written' | 'unchanged' | 'stale' | 'missing';

export interface StatusWriteOptions<T extends KubeObject> extends CallOptions {
  /** It differs, and is about to be written. */
  beforeWrite?: () => void;
  /** Waited for once it is written: until a cache shows it, say, because from an older view the next write would be stale. */
  whenWritten?: (object: Live<T>) => Promise<void>;
}

/**
 * Writes the status of an object as it was read, if it differs. Bound to that version, so that neither a frozen former
 * leader nor a view behind the last write can put an old status over a new one.
 */
export async function writeStatus<T extends KubeObject & { status?: unknown }>(
  client: KubeClient,
  resource: Resource<T>,
  object: Live<T>,
  status: NonNullable<T['status']>,
  { beforeWrite, whenWritten, ...options }: StatusWriteOptions<T> = {},
): Promise<StatusWrite> {
  if (isSameJson(status, object.status)) return 'unchanged';
  const { apiVersion, kind } = object;
  const { name, namespace, uid, resourceVersion } = object.metadata;
  const desired = { apiVersion, kind, metadata: { name, namespace, uid, resourceVersion }, status };
  beforeWrite?.();
  try {
    const written = await client.applyStatus<T>(resource, desired, options);
    await whenWritten?.(written);
    return 'written';
  } catch (error) {
    if (isKubeError(error, 'Conflict')) return 'stale';
    if (isKubeError(error, 'NotFound')) return 'missing';
    throw error;
  }
}

/** As the server would see them: a property that is undefined is not there. */
function isSameJson(left: unknown, right: unknown): boolean {
  return isDeepStrictEqual(plain(left), plain(right));
}

function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
