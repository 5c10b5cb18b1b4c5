import { annotations, type OrchestrationKind } from '@valkey-operator/api';
import { SlotSet } from '@valkey-operator/valkey';
import type { Plan } from '../actions.ts';
import { modelCluster } from '../simulation/model-cluster.ts';
import { estimateKeys, listShares, type Share } from '../simulation/shares.ts';
import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import type { ClusterSnapshot } from '../snapshot.ts';
import { isOpen } from '../upgrade/upgrades.ts';
import { describeEffect, type Effect } from './effects.ts';

/** What the operator will do about a cluster, if nothing else happens (C15). */
export interface Forecast {
  /** The operations, in order. */
  readonly kinds: readonly OrchestrationKind[];
  /** For people, in order. */
  readonly steps: readonly string[];
  /** Pods that are added, removed or restarted. */
  readonly pods: readonly string[];
  readonly failovers: number;
  readonly slotsMoved: number;
  /** By the share of each primary's slots that move, and the keys it has. */
  readonly keysMoved: number;
  /** A pod or a primary is out of service for a moment. */
  readonly disruptive: boolean;
  /** Why it would not come to its end, and what to do. */
  readonly blockedBy: readonly string[];
}

/** Work that may be left and taken up again between two steps, and its result. */
export type Steps<T> = Generator<undefined, T, undefined>;

export function runToEnd<T>(steps: Steps<T>): T {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

/** A second of the model each. What has not ended by then does not end by itself. */
const ROUNDS = 2000;
/** So long nothing was done: what is waited for does not come. */
const PATIENCE = 60;

/** The same planner, run forward on a model of the cluster in which everything goes well. */
export function forecast(snapshot: ClusterSnapshot): Forecast {
  return runToEnd(forecastInSteps(snapshot));
}

/** A forecast that pauses after each round: one of a large cluster takes seconds, and others want their turn meanwhile. */
export function* forecastInSteps(snapshot: ClusterSnapshot): Steps<Forecast> {
  const model = modelCluster(withoutHolds(snapshot));
  const effects = new Map<string, Effect>();
  const kinds = new Set<OrchestrationKind>();
  const note = ({ stages, status }: Plan) => {
    if (status.orchestration) kinds.add(status.orchestration.kind);
    for (const action of stages.flat()) add(effects, describeEffect(model, action));
  };
  let plan = model.reconcile(note);
  for (let round = 0, idle = 0; round < ROUNDS && idle < PATIENCE && !isDone(plan); round += 1) {
    yield;
    model.tick();
    plan = model.reconcile(note);
    idle = plan.stages.length > 0 ? 0 : idle + 1;
  }
  return summarize([...effects.values()], [...kinds], listShares(snapshot), listBlocks(snapshot, model, plan));
}

/** As if nobody had asked to wait: that is what the forecast is about. */
function withoutHolds(snapshot: ClusterSnapshot): ClusterSnapshot {
  const { cluster, spec } = snapshot;
  const { [annotations.paused]: _paused, [annotations.cancel]: _cancel, ...kept } = cluster.metadata.annotations ?? {};
  return {
    ...snapshot,
    cluster: { ...cluster, metadata: { ...cluster.metadata, annotations: kept } },
    spec: { ...spec, maintenanceWindows: [] },
  };
}

function isDone({ stages, stayConnected, upgrades = [] }: Plan): boolean {
  return stages.length === 0 && !stayConnected && !upgrades.some(isOpen);
}

/** What is said again is done again only because the model takes its time; slots between two pods are one step. */
function add(effects: Map<string, Effect>, effect: Effect | undefined): void {
  if (!effect) return;
  const { moved, text } = effect;
  const known = effects.get(text)?.moved;
  effects.set(text, moved && known ? { ...effect, moved: moved.union(known) } : effect);
}

/** Why it has not come to its end, and which upgrades have come to a bad one. */
function listBlocks(snapshot: ClusterSnapshot, { upgrades }: SimulatedCluster, last: Plan): string[] {
  const { conditions = [] } = isDone(last) ? {} : last.status;
  const blocks = conditions.filter(
    ({ type, status }) => (type === 'Degraded' && status === 'True') || (type === 'Ready' && status === 'False'),
  );
  const asked = new Set((snapshot.upgrades ?? []).filter(isOpen).map(({ metadata }) => metadata.name));
  const stuck = upgrades
    .filter(({ metadata, status }) => asked.has(metadata.name) && status?.phase !== 'Succeeded')
    .flatMap(({ status }) => status?.conditions ?? []);
  return [...new Set([...blocks, ...stuck].map(({ message }) => message))];
}

function summarize(
  effects: readonly Effect[],
  kinds: readonly OrchestrationKind[],
  shares: readonly Share[],
  blockedBy: readonly string[],
): Forecast {
  const moved = effects.reduce((all, effect) => all.union(effect.moved ?? SlotSet.empty), SlotSet.empty);
  const pods = new Set(effects.flatMap((effect) => effect.pods ?? []));
  return {
    kinds,
    steps: effects.map((effect) => (effect.moved ? `${effect.text}: ${effect.moved.count} slots` : effect.text)),
    pods: [...pods].toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true })),
    failovers: effects.filter(({ isFailover }) => isFailover).length,
    slotsMoved: moved.count,
    keysMoved: estimateKeys(shares, moved),
    disruptive: effects.some(({ isDisruptive }) => isDisruptive),
    blockedBy,
  };
}
