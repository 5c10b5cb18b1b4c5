import { annotations, type ValkeyCluster } from '@valkey-operator/api';
import type { ClusterSnapshot } from '../snapshot.ts';

/** As Kubernetes writes times. Without a zone it would be another moment on each machine. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/;

/** What a person has written. */
export function restartAtOf({ metadata }: ValkeyCluster): string | undefined {
  return metadata.annotations?.[annotations.restartAt] || undefined;
}

/** The moment that it means; undefined: none was written, or none that can be read. */
export function readRestartAt(cluster: ValkeyCluster): number | undefined {
  const text = restartAtOf(cluster) ?? '';
  const time = TIME.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
}

/** The moment, as long as it is yet to come. */
export function findRestartToCome({ cluster, now }: Pick<ClusterSnapshot, 'cluster' | 'now'>): number | undefined {
  const time = readRestartAt(cluster);
  return time !== undefined && time > now ? time : undefined;
}
