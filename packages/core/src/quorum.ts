import { annotations } from '@valkey-operator/api';
import type { PlanView } from './decision.ts';
import { hasKeys, isOwner, isPromotable, type Member, offsetOf, type SilentNode, type Topology } from './topology.ts';

/** A primary that is not there any more, as far as anybody can see. */
export function findLost({ silent }: Topology): SilentNode[] {
  return silent.filter((node) => isOwner(node) && !node.seenAlive);
}

/** Of n primaries with slots, more than n/2 must be alive to elect a replacement; less than that elect nobody. */
export function hasQuorum({ shards, silent }: Topology): boolean {
  const owners = silent.filter(isOwner);
  const alive = shards.length + owners.filter(({ seenAlive }) => seenAlive).length;
  return alive > (shards.length + owners.length) / 2;
}

/** A person's word that what is missing will not come back. */
export function isForced({ snapshot }: PlanView): boolean {
  return snapshot.cluster.metadata.annotations?.[annotations.forceTakeover] !== undefined;
}

/**
 * Who takes over: of the replicas that have held all data, the one that has most of it. One that never was in sync since
 * it started has what its disk had: that is only worth something to a person who says so.
 */
export function chooseSuccessor(view: PlanView, { replicas }: SilentNode): Member | undefined {
  const live = replicas.filter(({ report }) => report.live);
  const fit = live.filter(isPromotable);
  const candidates = fit.length > 0 || !isForced(view) ? fit : live.filter(hasKeys);
  return candidates.toSorted((a, b) => offsetOf(b) - offsetOf(a) || a.pod.ordinal - b.pod.ordinal)[0];
}

/** What people know it by. */
export function nameOf({ podName, id, ip }: SilentNode): string {
  return podName ?? `${id.slice(0, 8)} (${ip || 'no address'})`;
}
