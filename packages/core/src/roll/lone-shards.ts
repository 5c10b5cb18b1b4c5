import { annotations } from '@valkey-operator/api';
import { GRACE_SECONDS } from '../builders/pod-template.ts';
import { buildSettings, settingsInEffect } from '../builders/settings.ts';
import type { Decision, PlanView } from '../decision.ts';
import type { Shard } from '../topology.ts';

/**
 * A Valkey that ends writes a snapshot of as much as this within GRACE_SECONDS on any disk: that takes 17 MiB/s, where a hard
 * disk does 100. Whoever has more may be killed before it is done.
 */
const SAVED_IN_TIME_BYTES = 1024 ** 3;

interface Loss {
  /** What shards these are. */
  readonly of: string;
  /** What becomes of their data. */
  readonly what: string;
}

const ALL = 'its data is lost';

/** What is told of shards that are down while their only pod is replaced; nothing where every shard has a replica. */
export function describeGap(view: PlanView): string {
  const lone = listLone(view);
  if (lone.length === 0) return '';
  const loss = foreseeLoss(view, lone);
  return ` Each shard without a replica is down meanwhile${loss ? `, and ${loss.what}` : ''}.`;
}

/** A shard without a replica is down while its pod is replaced, and its data is gone unless a volume has it: two questions to a person. */
export function refuseGap(view: PlanView): Decision | undefined {
  const lone = listLone(view);
  const loss = foreseeLoss(view, lone);
  if (lone.length === 0 || isAllowed(view, loss ? annotations.allowDataLoss : annotations.allowGap)) return undefined;
  const remedy = 'Set spec.replicasPerMaster to 1 for the time of the change';
  if (loss) {
    const message = `There are shards without a replica${loss.of}: when the pod of one is replaced, ${loss.what}. ${remedy}, or give the data up by the annotation ${annotations.allowDataLoss}=true.`;
    return { reason: 'DataWouldBeLost', message, held: true };
  }
  const message = `There are shards without a replica, which would be down while their pod is replaced. ${remedy}, or allow the gap by the annotation ${annotations.allowGap}=true.`;
  return { reason: 'InvalidSpec', message, held: true };
}

/** What pods that are alone do not have any more when they come back, by what Valkey runs with. */
export function foreseeLoss({ snapshot }: PlanView, lone: readonly Shard[]): Loss | undefined {
  if (!snapshot.spec.pvc) return { of: ' and without a volume', what: ALL };
  const { settings } = settingsInEffect(snapshot) ?? buildSettings(snapshot.spec);
  if (settings['appendonly'] === 'yes') return undefined;
  if (settings['save'] === '') return { of: ' that write nothing to their volume (spec.backup)', what: ALL };
  const isMuch = ({ primary: { report } }: Shard) => (report.memory?.usedBytes ?? Infinity) > SAVED_IN_TIME_BYTES;
  if (!lone.some(isMuch)) return undefined;
  return {
    of: ` that write no append-only file (spec.backup.aof) and may have more than Valkey saves in the ${GRACE_SECONDS} s in which a pod ends`,
    what: 'what was written since its last snapshot may be lost',
  };
}

function listLone({ topology: { shards } }: PlanView): readonly Shard[] {
  return shards.filter(({ replicas }) => replicas.length === 0);
}

function isAllowed({ snapshot: { cluster } }: PlanView, annotation: string): boolean {
  return cluster.metadata.annotations?.[annotation] === 'true';
}
