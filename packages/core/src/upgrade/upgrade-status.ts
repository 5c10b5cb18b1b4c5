import type { Reason, ValkeyUpgrade } from '@valkey-operator/api';
import type { PlanView } from '../decision.ts';
import { isServing } from '../status/health.ts';
import { formatTime } from '../status/time.ts';
import type { Member, Shard } from '../topology.ts';
import { writtenImage } from './upgraded-image.ts';

type Status = NonNullable<ValkeyUpgrade['status']>;
type ShardStatus = NonNullable<Status['shards']>[number];

export interface UpgradeNews {
  readonly phase: NonNullable<Status['phase']>;
  readonly reason: Reason;
  readonly message: string;
}

/** How an upgrade stands, as `kubectl get vu` shows it. */
export function describeUpgrade(view: PlanView, upgrade: ValkeyUpgrade, news: UpgradeNews): Status {
  const { phase, reason, message } = news;
  const isShown = phase !== 'Queued' && phase !== 'Failed';
  const shards = isShown ? view.topology.shards.map((shard) => describeShard(view, shard, upgrade, phase)) : [];
  const { generation } = upgrade.metadata;
  const written = phase === 'Succeeded' ? 'True' : 'False';
  const last = upgrade.status?.conditions?.find(({ type }) => type === 'Complete');
  const lastTransitionTime = last?.status === written ? last.lastTransitionTime : formatTime(view.snapshot.now);
  return {
    observedGeneration: generation,
    phase,
    target: nameTarget(upgrade.spec),
    ...(isShown && {
      insteadOf: upgrade.status?.insteadOf ?? writtenImage(view.snapshot),
      shardsDone: shards.filter(({ step }) => step === 'Done').length,
      shards,
    }),
    conditions: [
      { type: 'Complete', status: written, reason, message, observedGeneration: generation, lastTransitionTime },
    ],
  };
}

/** In a word, for a column: whichever of the two ways it is asked for. */
export function nameTarget({ targetVersion, image }: ValkeyUpgrade['spec']): string {
  return targetVersion ?? [image?.name, image?.tag].filter((part) => part !== undefined).join(':');
}

function describeShard(
  view: PlanView,
  shard: Shard,
  { status, spec }: ValkeyUpgrade,
  phase: UpgradeNews['phase'],
): ShardStatus {
  const before = status?.shards?.find((each) => each.shard === shard.id);
  const from = before?.from ?? shard.primary.report.process.version;
  const to = spec.targetVersion ?? spec.image?.tag;
  return {
    shard: shard.id,
    step: phase === 'RollingBack' || phase === 'RolledBack' ? stepBack(view, shard, before) : stepOf(view, shard),
    ...(from && { from }),
    ...(to && { to }),
  };
}

/** It stays where it was until all of it is back: on the way the target is the image before. */
function stepBack(view: PlanView, { primary, replicas }: Shard, before: ShardStatus | undefined): ShardStatus['step'] {
  const isBack = [primary, ...replicas].every((member) => !isOfOtherImage(view, member)) && replicas.every(isServing);
  return isBack ? 'RolledBack' : (before?.step ?? 'Waiting');
}

function isOfOtherImage({ roll }: PlanView, member: Member): boolean {
  return roll.outdated.some(({ pod, changes }) => pod === member.pod && changes.includes('valkey'));
}

function stepOf(view: PlanView, { primary, replicas }: Shard): ShardStatus['step'] {
  const isOld = (member: Member) => isOfOtherImage(view, member);
  const old = replicas.filter(isOld).length;
  if (isOld(primary)) {
    if (old === replicas.length) return 'Waiting';
    if (old > 0) return 'UpgradingReplicas';
    return replicas.every(isServing) ? 'FailingOver' : 'SyncingReplicas';
  }
  if (old > 0) return 'UpgradingPrimary';
  return replicas.every(isServing) ? 'Done' : 'SyncingReplicas';
}
