import { setTimeout as sleep } from 'node:timers/promises';
import { type KubeObject, persistentVolumeClaims, pods, type Resource } from '@valkey-operator/kube';
import type { TestCluster } from '../../support/test-cluster.ts';

/** How many pods of the nodes, and how many claims, were made and went. Which of them it was, is left to circumstances. */
export interface Churn {
  readonly pods: Counts;
  readonly claims: Counts;
}

interface Counts {
  readonly made: number;
  readonly gone: number;
}

/** The last events are on their way. */
const LATE_MS = 300;
const LONGEST_SECONDS = 1800;

/** Counts while something happens: by a watch, so that a pod is seen that went as soon as it had come. */
export async function watchChurn(cluster: TestCluster, during: () => Promise<unknown>): Promise<Churn> {
  const { client, namespace } = cluster;
  const stop = new AbortController();
  const begin = async <T extends KubeObject>(resource: Resource<T>, labelSelector?: string) => {
    const options = { namespace, labelSelector };
    const { resourceVersion = '' } = (await client.list(resource, options)).metadata;
    const counts = { made: 0, gone: 0 };
    const { signal } = stop;
    const watch = client.watch(resource, { ...options, resourceVersion, timeoutSeconds: LONGEST_SECONDS, signal });
    const over = (async () => {
      for await (const { type } of watch) {
        if (type === 'ADDED') counts.made += 1;
        if (type === 'DELETED') counts.gone += 1;
      }
    })();
    return { counts, over };
  };
  const watched = [
    await begin(pods, `valkey.io/cr=${cluster.name},app.kubernetes.io/component=valkey`),
    await begin(persistentVolumeClaims),
  ] as const;
  const overs = Promise.allSettled(watched.map(({ over }) => over));
  try {
    await during();
    await sleep(LATE_MS);
  } finally {
    stop.abort();
    await overs;
  }
  return { pods: watched[0].counts, claims: watched[1].counts };
}
