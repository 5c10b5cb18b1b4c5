import { parseQuantity } from '@valkey-operator/api';
import type { Action } from '../actions.ts';
import type { Decision, PlanView } from '../decision.ts';
import type { ClaimView } from '../snapshot.ts';
import { listNames } from '../status/list-names.ts';

const ASK_MS = 5 * 60_000;
/** Some storage moves the volume meanwhile. */
const GROW_MS = 60 * 60_000;

/**
 * Volumes grow online (C10). A StatefulSet's claim template cannot change, so a pod that is added later gets a volume of the
 * old size, which is grown here like the others; no StatefulSet is deleted for it.
 */
export function planVolumes({ snapshot, topology }: PlanView): Decision | undefined {
  const wanted = snapshot.spec.pvc?.storageSize;
  if (wanted === undefined) return undefined;
  const claims = snapshot.claims.filter(
    ({ ordinal, deletionTimestamp, phase }) => ordinal < topology.podCount && !deletionTimestamp && phase === 'Bound',
  );
  const decision =
    refuse(claims, String(wanted)) ?? grow(claims, String(wanted)) ?? waitForGrowth(claims, String(wanted));
  return decision && { kind: 'GrowVolumes', disruptive: false, ...decision };
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
  const step = { name: 'Ask for larger volumes', number: 1, of: 2, timeoutMs: ASK_MS };
  return {
    reason: 'VolumesGrowing',
    message,
    step,
    stages: [actions],
    events: [{ reason: 'VolumesGrowing', message }],
  };
}

function waitForGrowth(claims: readonly ClaimView[], wanted: string): Decision | undefined {
  const growing = claims.filter(({ storage, capacity }) => capacity !== undefined && isSmaller(capacity, storage));
  if (growing.length === 0) return undefined;
  const waiting = growing.flatMap(({ resizing }) => resizing ?? [])[0];
  const done = `${claims.length - growing.length} of ${claims.length} volumes have ${wanted}`;
  const message = `${done}; ${listNames(growing.map(({ name }) => name))} ${growing.length === 1 ? 'is' : 'are'} growing${waiting ? ` (${waiting})` : ''}.`;
  const step = { name: 'Wait for the volumes', number: 2, of: 2, timeoutMs: GROW_MS };
  return { reason: 'VolumesGrowing', message, step, committed: 'A volume that grows cannot be made smaller.' };
}

function isSmaller(one: string, other: string): boolean {
  const [a, b] = [parseQuantity(one), parseQuantity(other)];
  return a !== undefined && b !== undefined && a < b;
}
