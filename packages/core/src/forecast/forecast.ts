import { annotations, type OrchestrationKind } from '@valkey-operator/api';
import { SlotSet } from '@valkey-operator/valkey';
import type { Plan } from '../actions.ts';
import { modelCluster } from '../simulation/model-cluster.ts';
import type { ClusterSnapshot } from '../snapshot.ts';
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
  /** By the share of a node's slots that move, and the keys it has. */
  readonly keysMoved: number;
  /** A pod or a primary is out of service for a moment. */
  readonly disruptive: boolean;
  /** Why it would not come to its end, and what to do. */
  readonly blockedBy: readonly string[];
}

/** A second of the model each. What has not ended by then does not end by itself. */
const ROUNDS = 2000;
/** So long nothing was done: what is waited for does not come. */
const PATIENCE = 60;

/** The same planner, run forward on a model of the cluster in which everything goes well. */
export function forecast(snapshot: ClusterSnapshot): Forecast {
  const model = modelCluster(withoutHolds(snapshot));
  const effects = new Map<string, Effect>();
  const kinds = new Set<OrchestrationKind>();
  const note = ({ stages, status }: Plan) => {
    if (status.orchestration) kinds.add(status.orchestration.kind);
    for (const action of stages.flat()) add(effects, describeEffect(model, action));
  };
  let plan = model.reconcile(note);
  for (let round = 0, idle = 0; round < ROUNDS && idle < PATIENCE && !isDone(plan); round += 1) {
    model.tick();
    plan = model.reconcile(note);
    idle = plan.stages.length > 0 ? 0 : idle + 1;
  }
  return summarize(snapshot, [...effects.values()], [...kinds], plan);
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

function isDone({ stages, stayConnected }: Plan): boolean {
  return stages.length === 0 && !stayConnected;
}

/** What is said again is done again only because the model takes its time; slots between two pods are one step. */
function add(effects: Map<string, Effect>, effect: Effect | undefined): void {
  if (!effect) return;
  const { moved, text } = effect;
  const known = effects.get(text)?.moved;
  effects.set(
    text,
    moved && known ? { ...effect, moved: { ...moved, slots: moved.slots.union(known.slots) } } : effect,
  );
}

function summarize(
  snapshot: ClusterSnapshot,
  effects: readonly Effect[],
  kinds: readonly OrchestrationKind[],
  last: Plan,
): Forecast {
  const moves = effects.flatMap(({ moved }) => moved ?? []);
  const pods = new Set(effects.flatMap((effect) => effect.pods ?? []));
  const blocks = (last.status.conditions ?? []).filter(
    ({ type, status }) => (type === 'Degraded' && status === 'True') || (type === 'Ready' && status === 'False'),
  );
  return {
    kinds,
    steps: effects.map(({ text, moved }) => (moved ? `${text}: ${moved.slots.count} slots` : text)),
    pods: [...pods].toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true })),
    failovers: effects.filter(({ isFailover }) => isFailover).length,
    slotsMoved: moves.reduce((all, { slots }) => all.union(slots), SlotSet.empty).count,
    keysMoved: Math.round(moves.reduce((sum, move) => sum + estimateKeys(snapshot, move), 0)),
    disruptive: effects.some(({ isDisruptive }) => isDisruptive),
    blockedBy: isDone(last) ? [] : [...new Set(blocks.map(({ message }) => message))],
  };
}

function estimateKeys({ pods }: ClusterSnapshot, { from, slots }: NonNullable<Effect['moved']>): number {
  const source = pods.find(({ name }) => name === from)?.report;
  const owned = SlotSet.parse(source?.cluster?.slots ?? '').count;
  return owned === 0 ? 0 : ((source?.memory?.keys ?? 0) * slots.count) / owned;
}
