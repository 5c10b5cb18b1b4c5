import { annotations } from '@valkey-operator/api';
import type { ClusterSnapshot } from '../snapshot.ts';

export const PAUSED = `The annotation ${annotations.paused} is set: the operator watches but does not act. Remove it to go on.`;

export function isPaused({ cluster }: ClusterSnapshot): boolean {
  return cluster.metadata.annotations?.[annotations.paused] === 'true';
}
