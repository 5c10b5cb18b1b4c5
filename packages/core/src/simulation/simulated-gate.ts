import { SlotSet } from '@valkey-operator/valkey';
import type { SimulatedCluster } from './simulated-cluster.ts';
import type { SimulatedPod } from './simulated-pod.ts';

/** A sidecar starts a primary that has its data when nobody took over for this long. */
const GATE_BOUND_MS = 20_000;

/** The sidecar's start gate (faults.md 8), as far as the planner has to do with it. */
export function tryStart(cluster: SimulatedCluster, pod: SimulatedPod): void {
  const { identity, data } = cluster.volume(pod.ordinal);
  if (cluster.slow.has(pod.ordinal)) return;
  if (pod.process === 'down' || pod.process === 'absent') {
    pod.process = 'gated';
    pod.gatedSince = cluster.now;
  }
  if (!identity || identity.role === 'replica' || identity.slots.isEmpty) return cluster.boot(pod);
  const replicas = [...identity.table.values()].filter(({ primaryId }) => primaryId === identity.id);
  const views = cluster.nodes.flatMap((node) => [node, ...node.table.values()]);
  const later = views.filter(({ id, epoch }) => id !== identity.id && epoch > identity.epoch);
  const taken = later.reduce((all, { slots }) => all.union(slots), SlotSet.empty);
  const isHarmless = (id: string) => {
    const node = cluster.nodes.find((each) => each.id === id);
    return node !== undefined && !node.syncedOnce && (node.data.isEmpty || !data.isEmpty);
  };
  const isOver = cluster.now - pod.gatedSince > GATE_BOUND_MS && !data.isEmpty;
  const isTaken = identity.slots.difference(taken).isEmpty;
  if (isTaken || isOver || replicas.every(({ id }) => isHarmless(id))) cluster.boot(pod);
}
