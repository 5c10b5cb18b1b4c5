import { annotations } from '@valkey-operator/api';
import { SlotSet } from '@valkey-operator/valkey';
import { describe, expect, it } from 'vitest';
import type { PlanView } from '../decision.ts';
import { planCluster } from '../plan.ts';
import type { ClusterSnapshot } from '../snapshot.ts';
import { bear } from '../testing/settle.ts';
import { viewSnapshot } from '../testing/view.ts';
import type { SilentNode } from '../topology.ts';
import { planOpenSlots } from './open-slots.ts';

/** A cluster of Valkey 8 that grows, with a slot open; the sidecar that moved it has forgotten that. */
function withOpenSlot(): PlanView {
  const cluster = bear({ spec: { valkeyImage: { name: 'valkey', tag: '8.1', pullPolicy: 'IfNotPresent' } } });
  cluster.change({ masterCount: 4 });
  for (let round = 0; round < 60; round += 1) {
    cluster.reconcile();
    cluster.tick();
    const snapshot = cluster.snapshot();
    if (snapshot.pods.some(({ report }) => report?.cluster?.openSlots.length))
      return viewSnapshot(withoutMoves(snapshot));
  }
  throw new Error('no slot was open');
}

function withoutMoves(snapshot: ClusterSnapshot): ClusterSnapshot {
  const pods = snapshot.pods.map(({ report, ...pod }) => {
    const { move: _, ...rest } = report ?? {};
    return { ...pod, ...(report && { report: { ...rest } as typeof report }) };
  });
  return { ...snapshot, pods };
}

function ordersOf(view: PlanView): string[] {
  const actions = (planOpenSlots(view)?.stages ?? []).flat();
  return actions.flatMap((action) => ('command' in action ? [action.command.do] : []));
}

/** One that has lost its slots, and is not known to follow anybody. */
const formerPrimary: Pick<SilentNode, 'podName' | 'missed' | 'fenced' | 'primaryId'> = {
  podName: 'demo-6',
  missed: true,
  fenced: false,
  primaryId: undefined,
};

describe('a slot that was left half moved', () => {
  const view = withOpenSlot();
  const beside = (...nodes: Partial<SilentNode>[]) =>
    viewSnapshot(view.snapshot, { silent: nodes.map((node) => ({ ...formerPrimary, ...node }) as SilentNode) });

  it('is finished', () => {
    expect(ordersOf(view)).toContain('moveSlots');
  });

  it('is finished also during a pause, but not where nobody has begun to move any: that is for the person who has', () => {
    const { cluster, ...rest } = view.snapshot;
    const metadata = { ...cluster.metadata, annotations: { [annotations.paused]: 'true' } };
    const { orchestration: _, ...told } = cluster.status!;
    const commands = (status: typeof cluster.status) =>
      planCluster({ ...rest, cluster: { ...cluster, metadata, status } })
        .stages.flat()
        .flatMap((action) => (action.type === 'CommandNode' ? [action.command.do] : []));
    expect(commands(cluster.status)).toContain('moveSlots');
    expect(commands(told)).toEqual([]);
  });

  it('does not wait for one whose target gets no slots yet', () => {
    const { snapshot } = view;
    const reports = snapshot.pods.flatMap(({ report }) => report ?? []);
    const source = reports.find(({ cluster }) => cluster?.openSlots[0]?.migratingTo)!;
    const waiting = source.cluster!.openSlots[0]!.migratingTo!;
    const other = reports.find(
      ({ cluster }) => cluster?.role === 'primary' && cluster !== source.cluster && cluster.nodeId !== waiting,
    )!;
    const slot = [...SlotSet.parse(source.cluster!.slots)].at(-1)!;
    const openSlots = [...source.cluster!.openSlots, { slot, migratingTo: other.cluster!.nodeId }];
    const pods = snapshot.pods.map((pod) => {
      const { report } = pod;
      if (report === source) return { ...pod, report: { ...source, cluster: { ...source.cluster!, openSlots } } };
      if (report?.cluster?.primaryId !== waiting) return pod;
      return { ...pod, report: { ...report, replication: { ...report.replication!, linkUp: false } } };
    });
    const decision = planOpenSlots(viewSnapshot({ ...snapshot, pods }));
    expect(decision?.message).toContain('gets no slots as long as');
    const moves = (decision?.stages ?? [])
      .flat()
      .filter((action) => 'command' in action && action.command.do === 'moveSlots');
    expect(moves).toMatchObject([{ command: { slots: `${slot}`, target: { nodeId: other.cluster!.nodeId } } }]);
  });

  it('waits while a primary that others took over from may wake up and claim it, and names it alone', () => {
    const besideTwo = beside({}, { podName: 'demo-7', fenced: true });
    expect(ordersOf(besideTwo)).not.toContain('moveSlots');
    expect(planOpenSlots(besideTwo)?.message).toMatch(/, once demo-6 is heard again or known to be gone\.$/);
  });

  it.each<[string, Partial<SilentNode>]>([
    ['is held at the start gate, or gone', { fenced: true }],
    ['follows its successor by now', { primaryId: 'another' }],
    ['was never there', { missed: false }],
    ['is none of ours', { podName: undefined }],
  ])('does not wait for one that %s', (_name, node) => {
    expect(ordersOf(beside(node))).toContain('moveSlots');
  });
});
