import { setTimeout as sleep } from 'node:timers/promises';
import type { ClusterNode } from '@valkey-operator/valkey';
import { connect } from '@valkey-operator/valkey/connection';
import { askOffset } from './ask-node.ts';
import { isElectable } from './electable.ts';
import type { Log } from './log.ts';
import { LAG_BYTES } from './replica-lag.ts';
import type { ValkeyFacts } from './valkey-facts.ts';
import type { ValkeyWatch } from './valkey-watch.ts';

/** A replica that could take over, the best first. */
export type Candidate = Pick<ClusterNode, 'id' | 'ip' | 'port'> & { readonly offset: number };

/** Replicas that may take over, in sync or not. One that is leaving itself has said so. */
function eligibleReplicas({ info, cluster }: ValkeyFacts): (Candidate & { readonly isOnline: boolean })[] {
  const followers = (cluster?.nodes ?? []).filter(
    ({ primaryId, health, noFailover }) => primaryId === cluster?.myself.id && health === 'ok' && !noFailover,
  );
  // What the cluster calls a replica must also be attached here: only then it can take over without loss.
  return followers.flatMap(({ id, ip, port }) => {
    const link = info.replication?.replicas.find((replica) => replica.ip === ip && replica.port === port);
    return link ? [{ id, ip, port, offset: link.offset, isOnline: link.state === 'online' }] : [];
  });
}

/** Nobody, when this node is no primary with slots: then there is nothing to hand over. */
export function chooseCandidates(facts: ValkeyFacts): Candidate[] {
  if (!isServingPrimary(facts)) return [];
  const candidates = eligibleReplicas(facts).filter(({ isOnline }) => isOnline);
  return candidates
    .map(({ id, ip, port, offset }) => ({ id, ip, port, offset }))
    .toSorted((a, b) => b.offset - a.offset || (a.id < b.id ? -1 : 1));
}

function isServingPrimary({ cluster }: ValkeyFacts): boolean {
  return cluster !== undefined && cluster.myself.role === 'primary' && !cluster.myself.slots.isEmpty;
}

export type HandoverResult =
  | { readonly outcome: 'handed-over'; readonly newPrimaryId: string }
  | { readonly outcome: 'not-needed' | 'not-possible'; readonly message: string };

// A coordinated failover that has not happened after Valkey's own limit of 5 s does not happen any more.
const ATTEMPT_MS = 5500;
const POLL_MS = 25;
const RETRY_MS = 200;

/** How long there is for it. */
export interface HandoverTime {
  readonly signal: AbortSignal;
  /** Until then a replica that lacks much is given time to catch up: writes go on meanwhile, and would stop if it were asked. */
  readonly patientUntil: number;
}

type Node = Pick<ValkeyWatch, 'refresh' | 'view' | 'facts'>;

interface Others {
  readonly isElectable: (candidate: Candidate, nodes: readonly ClusterNode[]) => Promise<boolean>;
  readonly askOffset: typeof askOffset;
  readonly failOverTo: typeof failOverTo;
}

/**
 * Lets a replica take over before this node stops: a gap of some 50 ms instead of seconds. The sidecar of the primary does
 * it, always and alone (fault 32): it works without an operator, and there is one owner of the decision.
 */
export async function handOver(
  watch: Node,
  log: Log,
  { signal, patientUntil }: HandoverTime,
  others: Others = { isElectable, askOffset, failOverTo },
): Promise<HandoverResult> {
  let result: HandoverResult = { outcome: 'not-possible', message: 'there was no time' };
  while (!signal.aborted) {
    const facts = await watch.refresh().catch(() => undefined);
    if (!facts) {
      result = { outcome: 'not-possible', message: `Valkey is ${watch.view.phase}` };
      if (watch.view.startedAt === undefined) return { ...result, outcome: 'not-needed' };
      // It is there but busy: it may answer again in time.
      await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
      continue;
    }
    if (!isServingPrimary(facts)) return finishAsReplica(watch, facts, result);
    const [best] = chooseCandidates(facts);
    if (!best || !(await others.isElectable(best, facts.cluster?.nodes ?? []))) {
      result = { outcome: 'not-possible', message: 'no replica is in sync' };
      // One that is just copying is worth waiting for, within the time there is.
      if (eligibleReplicas(facts).length === 0) return result;
    } else if (Date.now() < patientUntil && (await askLag(best, facts, others)) >= LAG_BYTES) {
      result = { outcome: 'not-possible', message: 'the best replica lacks 1 MiB or more' };
    } else {
      result = { outcome: 'handed-over', newPrimaryId: best.id };
      log.info('asking a replica to take over', { replica: best.id, address: best.ip, offset: best.offset });
      await others
        .failOverTo(best, watch, signal)
        .catch((error: unknown) => log.warn('the replica did not take over', { replica: best.id, error }));
      if (watch.facts && !isServingPrimary(watch.facts)) continue;
      result = { outcome: 'not-possible', message: 'the replica did not take over in time' };
    }
    await sleep(RETRY_MS, undefined, { signal }).catch(() => undefined);
  }
  return result;
}

/** By its own word: its primary hears of it once a second. Whoever does not tell keeps nobody waiting. */
async function askLag(replica: Candidate, { info }: ValkeyFacts, others: Others): Promise<number> {
  const written = info.replication?.offset ?? 0;
  return written - ((await others.askOffset(replica).catch(() => undefined)) ?? written);
}

function finishAsReplica(watch: Node, { cluster }: ValkeyFacts, before: HandoverResult): HandoverResult {
  const newPrimaryId = cluster?.myself.primaryId;
  if (before.outcome === 'handed-over' && newPrimaryId) return { outcome: 'handed-over', newPrimaryId };
  return { outcome: 'not-needed', message: `this node is ${cluster?.myself.role ?? watch.view.phase} without slots` };
}

async function failOverTo({ ip, port }: Candidate, watch: Node, signal: AbortSignal): Promise<void> {
  using replica = await connect({ address: { host: ip, port }, timeoutMs: 1000, signal });
  await replica.call(['CLUSTER', 'FAILOVER'], { timeoutMs: 1000, signal });
  const deadline = Date.now() + ATTEMPT_MS;
  while (Date.now() < deadline && !signal.aborted) {
    if (!isServingPrimary(await watch.refresh())) return;
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}
