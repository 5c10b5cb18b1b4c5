import { SlotSet } from '@valkey-operator/valkey';
import { claimSizeOf } from '../builders/children.ts';
import type { ChildObject, ClaimView } from '../snapshot.ts';
import type { Identity } from './simulated-node.ts';

/** What its claim says of it besides its size. */
export type VolumeTraits = Pick<ClaimView, 'expandable' | 'storageClass'>;

export interface Volume {
  readonly traits: VolumeTraits;
  identity: Identity | undefined;
  data: SlotSet;
  storage: string;
}

export function emptyVolume(storage: string, traits: VolumeTraits): Volume {
  return { traits, storage, identity: undefined, data: SlotSet.empty };
}

export function viewClaims(volumes: ReadonlyMap<number, Volume>, nameOf: (ordinal: number) => string): ClaimView[] {
  return Array.from(volumes, ([ordinal, { storage, traits }]) => ({
    ...traits,
    name: nameOf(ordinal),
    uid: `claim-${ordinal}`,
    ordinal,
    storage,
    capacity: storage,
    phase: 'Bound',
  }));
}

const USUAL_SIZE = '1Gi';

/** As large as its claims were when it was made: that cannot be changed afterwards. */
export function claimedSize(statefulSet: ChildObject | undefined): string {
  return claimSizeOf(statefulSet) ?? USUAL_SIZE;
}
