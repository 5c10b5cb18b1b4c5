import { expect, it } from 'vitest';
import { planCluster } from './plan.ts';
import type { ClusterSnapshot, NodeView, SlotMoveView } from './snapshot.ts';
import { bear, condition } from './testing/settle.ts';
import { deriveTopology } from './topology.ts';

/** The first shard has just given these slots to the second, of which that one has not told yet. */
function justGiven(
  snapshot: ClusterSnapshot,
  change: (target: NodeView) => Partial<NodeView>,
  overForMs = 300,
): ClusterSnapshot {
  const [{ primary: source }, { primary: target }] = deriveTopology(snapshot).shards as [Shard, Shard];
  const move: SlotMoveView = {
    state: 'done',
    targetId: target.id,
    slots: '',
    movedSlots: 10,
    movedKeys: 0,
    leftKeys: 0,
    elapsedMs: 100,
    overForMs,
    failures: 0,
    message: '',
    notableKeys: [],
  };
  const nodes = source.cluster.nodes.map((node) =>
    node.id === target.id ? { ...node, configEpoch: node.configEpoch + 1 } : node,
  );
  const pods = snapshot.pods.map((pod) => {
    if (pod.name === target.pod.name) return { ...pod, report: { ...pod.report!, ...change(pod.report!) } };
    if (pod.name !== source.pod.name) return pod;
    return { ...pod, report: { ...pod.report!, move, cluster: { ...source.cluster, nodes } } };
  });
  return { ...snapshot, pods };
}
type Shard = ReturnType<typeof deriveTopology>['shards'][number];

function withoutTheLast10({ cluster }: NodeView): Partial<NodeView> {
  const [first, last] = cluster!.slots.split('-').map(Number) as [number, number];
  return { cluster: { ...cluster!, slots: `${first}-${last - 9}` } };
}

it('slots that a source has given away, and of which their target tells later, have an owner', () => {
  const snapshot = justGiven(bear().snapshot(), withoutTheLast10);
  expect(condition(planCluster(snapshot), 'Ready')).toMatchObject({ status: 'True' });
});

it('slots that a source has given away, and that their target still does not call its own, have none', () => {
  const snapshot = justGiven(bear().snapshot(), withoutTheLast10, 11_000);
  expect(condition(planCluster(snapshot), 'Ready')).toMatchObject({ status: 'False', reason: 'SlotsUncovered' });
});

it('a primary that has not told of its first slots yet is no reason to worry', () => {
  const snapshot = justGiven(bear().snapshot(), ({ cluster }) => ({
    ready: false,
    message: 'the primary owns no slots',
    cluster: { ...cluster!, slots: '' },
  }));
  const plan = planCluster(snapshot);
  expect(condition(plan, 'Ready')).toMatchObject({ status: 'True' });
  expect(plan.status.orchestration?.kind).not.toBe('Heal');
});
