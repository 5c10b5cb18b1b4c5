import { parseQuantity } from '@valkey-operator/api';
import type { Action } from '../actions.ts';
import { claimSizeOf } from '../builders/children.ts';
import type { Decision, PlanView } from '../decision.ts';
import { findStatefulSet } from '../expectation.ts';
import type { ClaimView } from '../snapshot.ts';
import { isServing } from '../status/health.ts';
import { listNames } from '../status/list-names.ts';

const ASK_MS = 5 * 60_000;
/** Some storage moves the volume meanwhile. */
export const GROW_MS = 60 * 60_000;

/**
 * Volumes grow online (C10). A StatefulSet's claim template cannot change, so a pod that is added later gets a volume of the
 * old size, which is grown here like the others; no StatefulSet is deleted for it.
 */
export function planVolumes(view: PlanView): Decision | undefined {
  const wanted = wantedSize(view);
  if (wanted === undefined) return undefined;
  const claims = findClaims(view);
  const decision = refuse(claims, wanted) ?? ask(view, claims, wanted) ?? wait(claims, wanted);
  return decision && { kind: 'GrowVolumes', disruptive: false, ...decision };
}

/**
 * Pods that are added: their volumes have the size that is wanted before they get slots, which may not fit otherwise. One that
 * cannot grow is as large as all others.
 */
export function growNewVolumes(view: PlanView): Decision | undefined {
  const wanted = wantedSize(view);
  if (wanted === undefined || view.topology.scaling !== 'ScaleOut') return undefined;
  const claims = findClaims(view).filter((claim) => claim.expandable !== false && !isInService(view, claim));
  return grow(claims, wanted) ?? waitForGrowth(claims, wanted);
}

/** Whether those that are added have volumes that are too small at first. */
export function makesSmallVolumes(view: PlanView): boolean {
  const [wanted, first] = [wantedSize(view), claimSizeOf(findStatefulSet(view.snapshot))];
  return wanted !== undefined && first !== undefined && isSmaller(first, wanted);
}

function wantedSize({ snapshot }: PlanView): string | undefined {
  const size = snapshot.spec.pvc?.storageSize;
  return size === undefined ? undefined : String(size);
}

function findClaims({ snapshot, topology }: PlanView): ClaimView[] {
  return snapshot.claims.filter(
    ({ ordinal, deletionTimestamp, phase }) => ordinal < topology.podCount && !deletionTimestamp && phase === 'Bound',
  );
}

/** Its pod does in a shard what it should, so what that needs has room on it. */
function isInService({ topology: { shards } }: PlanView, { ordinal }: ClaimView): boolean {
  return shards.some(({ primary, replicas }) => {
    const serving = [...(primary.report.ready ? [primary] : []), ...replicas.filter(isServing)];
    return serving.some(({ pod }) => pod.ordinal === ordinal);
  });
}

/** Who does not serve may need the room for it, as a replica whose disk is full: that waits for no repair. */
function ask(view: PlanView, claims: readonly ClaimView[], wanted: string): Decision | undefined {
  const decision = grow(claims, wanted);
  const unblocks = claims.some((claim) => isSmaller(claim.storage, wanted) && !isInService(view, claim));
  const step = { name: 'Ask for larger volumes', number: 1, of: 2, timeoutMs: ASK_MS };
  return decision && { ...decision, step, unblocks };
}

function wait(claims: readonly ClaimView[], wanted: string): Decision | undefined {
  const decision = waitForGrowth(claims, wanted);
  const step = { name: 'Wait for the volumes', number: 2, of: 2, timeoutMs: GROW_MS };
  // Some drivers grow the file system only when the pod starts next, which may be what another change does.
  return decision && { ...decision, step, committed: 'A volume that grows cannot be made smaller.', yields: true };
}

/** A person has to choose: the class of a volume cannot be changed, and what its class allows is not ours to change. */
function refuse(claims: readonly ClaimView[], wanted: string): Decision | undefined {
  const [stuck] = claims.filter((claim) => isSmaller(claim.storage, wanted) && claim.expandable === false);
  if (!stuck) return undefined;
  const message = `spec.pvc.storageSize is ${wanted}, but volume ${stuck.name} of ${stuck.storage} cannot grow: its StorageClass ${stuck.storageClass ?? '(none)'} does not allow it (allowVolumeExpansion). Nothing has been changed; set the old size, or restore a backup into a new cluster with another class.`;
  return { reason: 'InvalidSpec', message, held: true };
}

function grow(claims: readonly ClaimView[], wanted: string): Decision | undefined {
  const small = claims.filter(({ storage }) => isSmaller(storage, wanted));
  if (small.length === 0) return undefined;
  const actions = small.map(({ name, uid }): Action => ({ type: 'GrowClaim', claim: name, uid, storage: wanted }));
  const message = `${listNames(small.map(({ name }) => name))} shall grow from ${small[0]?.storage} to ${wanted}.`;
  return { reason: 'VolumesGrowing', message, stages: [actions], events: [{ reason: 'VolumesGrowing', message }] };
}

function waitForGrowth(claims: readonly ClaimView[], wanted: string): Decision | undefined {
  const growing = claims.filter(({ storage, capacity }) => capacity !== undefined && isSmaller(capacity, storage));
  if (growing.length === 0) return undefined;
  const waiting = growing.flatMap(({ resizing }) => resizing ?? [])[0];
  const done = `${claims.length - growing.length} of ${claims.length} volumes have ${wanted}`;
  const message = `${done}; ${listNames(growing.map(({ name }) => name))} ${growing.length === 1 ? 'is' : 'are'} growing${waiting ? ` (${waiting})` : ''}.`;
  return { reason: 'VolumesGrowing', message };
}

function isSmaller(one: string, other: string): boolean {
  const [a, b] = [parseQuantity(one), parseQuantity(other)];
  return a !== undefined && b !== undefined && a < b;
}
