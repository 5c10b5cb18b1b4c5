import type { CallOptions } from './api-call.ts';
import type { KubeClient } from './client.ts';
import { isKubeError } from './error.ts';
import type { ObjectRef } from './object.ts';
import { pods } from './resources.ts';

/** `blocked`: a disruption budget does not allow it now. */
export type Eviction = 'evicted' | 'missing' | 'blocked';

/** Deletes a pod as a drain would: disruption budgets are asked. With a uid, only that very pod. */
export async function evictPod(
  client: KubeClient,
  ref: ObjectRef,
  options: CallOptions & { uid?: string } = {},
): Promise<Eviction> {
  const { uid, ...call } = options;
  const eviction = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: ref,
    deleteOptions: { preconditions: { uid } },
  };
  try {
    await client.postSubresource(pods, ref, 'eviction', eviction, { throttled: 'throw', ...call });
    return 'evicted';
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return 'missing';
    if (isKubeError(error, 'TooManyRequests') && error.causes.some(({ reason }) => reason === 'DisruptionBudget')) {
      return 'blocked';
    }
    throw error;
  }
}
