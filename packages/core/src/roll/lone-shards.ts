import { annotations } from '@valkey-operator/api';
import { buildSettings, settingsInEffect } from '../builders/settings.ts';
import type { Decision, PlanView } from '../decision.ts';

/** What is told of shards that are down while their only pod is replaced; nothing where every shard has a replica. */
export function describeGap(view: PlanView): string {
  if (!hasLoneShard(view)) return '';
  const loss = forgetsData(view) ? ', and its data is lost' : '';
  return ` Each shard without a replica is down meanwhile${loss}.`;
}

/** A shard without a replica is down while its pod is replaced, and its data is gone unless a volume has it: two questions to a person. */
export function refuseGap(view: PlanView): Decision | undefined {
  const loss = forgetsData(view);
  if (!hasLoneShard(view) || isAllowed(view, loss ? annotations.allowDataLoss : annotations.allowGap)) return undefined;
  const remedy = 'Set spec.replicasPerMaster to 1 for the time of the change';
  if (loss) {
    const message = `There are shards without a replica${loss}, so to replace their pods is to lose their data. ${remedy}, or give the data up by the annotation ${annotations.allowDataLoss}=true.`;
    return { reason: 'DataWouldBeLost', message, held: true };
  }
  const message = `There are shards without a replica, which would be down while their pod is replaced. ${remedy}, or allow the gap by the annotation ${annotations.allowGap}=true.`;
  return { reason: 'InvalidSpec', message, held: true };
}

/** Why a pod that is alone has its data no more when it comes back, by what Valkey runs with. */
export function forgetsData({ snapshot }: PlanView): string | undefined {
  if (!snapshot.spec.pvc) return ' and without a volume';
  const { settings } = settingsInEffect(snapshot) ?? buildSettings(snapshot.spec);
  const isWritten = settings['save'] !== '' || settings['appendonly'] === 'yes';
  return isWritten ? undefined : ' that write nothing to their volume (spec.backup)';
}

function hasLoneShard({ topology: { shards } }: PlanView): boolean {
  return shards.some(({ replicas }) => replicas.length === 0);
}

function isAllowed({ snapshot: { cluster } }: PlanView, annotation: string): boolean {
  return cluster.metadata.annotations?.[annotation] === 'true';
}
