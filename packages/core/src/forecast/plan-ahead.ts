import { createHash } from 'node:crypto';
import type { Plan as StatusPlan } from '@valkey-operator/api';
import type { Plan } from '../actions.ts';
import { planCluster } from '../plan.ts';
import type { ClusterSnapshot } from '../snapshot.ts';
import { isPaused } from '../status/paused.ts';
import { isOpen } from '../upgrade/upgrades.ts';
import { forecast } from './forecast.ts';

/** What the schema of the status has room for. */
const MAX_STEPS = 128;
/** The forecast of a larger one takes longer than a look at a cluster may; whoever wants it can call it. */
const MAX_PODS = 100;

/** As planCluster, and where something waits and nothing runs, with what it would do. */
export function planAhead(snapshot: ClusterSnapshot): Plan {
  const plan = planCluster(snapshot);
  const { orchestration, pendingOrchestrations = [] } = plan.status;
  // An upgrade waits for a paused cluster before it is an operation.
  const isQueued = isPaused(snapshot) && plan.upgrades?.some(isOpen) === true;
  const isWaiting = orchestration === undefined && (pendingOrchestrations.length > 0 || isQueued);
  if (!isWaiting || snapshot.pods.length > MAX_PODS) return plan;
  return { ...plan, status: { ...plan.status, plan: foresee(snapshot, plan) } };
}

function foresee(snapshot: ClusterSnapshot, { status }: Plan): StatusPlan {
  const basis = digest(snapshot);
  const before = snapshot.cluster.status?.plan;
  const waitsFor = status.conditions?.find(({ type }) => type === 'Progressing')?.message.slice(0, 512);
  const fresh = before?.basis === basis ? before : { ...describe(snapshot), basis };
  return { ...fresh, ...(waitsFor && { waitsFor }) };
}

function describe(snapshot: ClusterSnapshot): StatusPlan {
  const { steps, pods, failovers, slotsMoved, keysMoved, disruptive, blockedBy } = forecast(snapshot);
  const shown = steps.slice(0, MAX_STEPS - 1).map((step) => step.slice(0, 512));
  return {
    steps: steps.length > MAX_STEPS ? [...shown, `and ${steps.length - shown.length} more`] : [...steps],
    pods: [...pods],
    podsTouched: pods.length,
    failovers,
    slotsMoved,
    keysMoved,
    disruptive,
    ...(blockedBy.length > 0 && { blockedBy: blockedBy.map((block) => block.slice(0, 1024)) }),
  };
}

/** Of what the forecast depends on, without what changes all the time; of what grows with every write, the rough size. */
function digest({ spec, cluster, pods, claims, upgrades = [] }: ClusterSnapshot): string {
  const nodes = pods.map(({ uid, deletionTimestamp, report }) => {
    const { nodeId, role, primaryId, slots } = report?.cluster ?? {};
    const { usedBytes, maxBytes, keys, expiringHashes } = (role === 'primary' && report?.memory) || {};
    const memory = [maxBytes, roughly(usedBytes), roughly(keys), (expiringHashes ?? 0) > 0];
    return [uid, deletionTimestamp, report?.process.state, nodeId, role, primaryId, slots, memory];
  });
  const volumes = claims.map(({ ordinal, storage, expandable }) => [ordinal, storage, expandable]);
  const asked = upgrades.filter(isOpen).map((upgrade) => [upgrade.metadata.name, upgrade.spec]);
  const { annotations } = cluster.metadata;
  return createHash('sha256')
    .update(JSON.stringify([spec, annotations, nodes, volumes, asked]))
    .digest('hex')
    .slice(0, 16);
}

function roughly(count: number | undefined): string | undefined {
  return count?.toPrecision(2);
}
