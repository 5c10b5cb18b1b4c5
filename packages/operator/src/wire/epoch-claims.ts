import type { LeaderElection } from '@valkey-operator/kube';
import type { Logger } from '../log.ts';
import type { SidecarAddress } from './sidecar-link.ts';

const QUIET_MS = 10 * 60_000;

/**
 * What to do when a sidecar says that it has seen a later leader. Either another leads: then this process finds that out
 * from the Lease and stands by. Or the Lease was set back: then it leads on above what was seen. One claim is heeded in ten
 * minutes, so that a single pod in wrong hands cannot keep the operator of everybody else in elections.
 */
export function heedEpochClaims(
  election: Pick<LeaderElection, 'surpass'>,
  log: Logger,
  now: () => number = Date.now,
): (highestEpoch: bigint, sidecar: Pick<SidecarAddress, 'namespace' | 'cluster' | 'pod'>) => void {
  let heededAt = -Infinity;
  return (highestEpoch, { namespace, cluster, pod }) => {
    if (now() - heededAt < QUIET_MS) return;
    const heeded = election.surpass(Number(highestEpoch));
    heededAt = now();
    const fields = { cluster: `${namespace}/${cluster}`, pod, epoch: Number(highestEpoch), heeded };
    log.warn(fields, 'a sidecar has seen a later leader');
  };
}
