import { describe, expect, it } from 'vitest';
import type { ClusterSnapshot, PodView } from '../snapshot.ts';
import { bear } from '../testing/settle.ts';
import { viewSnapshot } from '../testing/view.ts';
import { planMoves } from './slot-moves.ts';

/** A cluster that grows from three shards, at the moment when its first slots shall move. */
function growing(tag: string, masterCount = 4): ClusterSnapshot {
  const cluster = bear({ spec: { valkeyImage: { name: 'valkey', tag, pullPolicy: 'IfNotPresent' } } });
  cluster.change({ masterCount });
  for (let round = 0; round < 60; round += 1) {
    let found: ClusterSnapshot | undefined;
    cluster.reconcile(({ stages }) => {
      const moves = stages.flat().some((action) => 'command' in action && action.command.do === 'moveSlots');
      if (moves) found ??= cluster.snapshot();
    });
    if (found) return found;
    cluster.tick();
  }
  throw new Error('no slots move');
}

/** One that grows key by key, at the moment when its slots are on their way and three shards shall do again. */
function reversing(): ClusterSnapshot {
  const cluster = bear({ spec: { valkeyImage: { name: 'valkey', tag: '8.1', pullPolicy: 'IfNotPresent' } } });
  cluster.change({ masterCount: 4 });
  const isOnItsWay = ({ pods }: ClusterSnapshot) =>
    pods.filter(({ report }) => report?.move?.state === 'running' && report.cluster?.openSlots.length).length === 3;
  for (let round = 0; round < 60 && !isOnItsWay(cluster.snapshot()); round += 1) {
    cluster.reconcile();
    cluster.tick();
  }
  cluster.change({ masterCount: 3 });
  return cluster.snapshot();
}

/** What is ordered when everybody who has keys has so many. */
function ordersWith(keys: number, tag = '9.1'): { parallel: number; keysAtOnce: number[] } {
  const snapshot = growing(tag);
  const pods = snapshot.pods.map((pod) => ({
    ...pod,
    ...(pod.report?.memory?.keys && { report: { ...pod.report, memory: { ...pod.report.memory, keys } } }),
  }));
  const decision = planMoves(viewSnapshot({ ...snapshot, pods }));
  const commands = (decision?.stages ?? []).flat().flatMap((action) => ('command' in action ? [action.command] : []));
  return {
    parallel: commands.length,
    keysAtOnce: commands.flatMap((command) => (command.do === 'moveSlots' ? [command.keysAtOnce] : [])),
  };
}

describe('slots that move as a whole', () => {
  it('come from one source after the other, a few keys at a time, when there are not many', () => {
    expect(ordersWith(60_000)).toEqual({ parallel: 1, keysAtOnce: [4000] });
  });

  it('come from all sources at once when there are', () => {
    expect(ordersWith(1_000_000)).toEqual({ parallel: 3, keysAtOnce: [24_000, 24_000, 24_000] });
  });
});

describe('a target that may be about to lose its role gets no slots', () => {
  const snapshot = growing('9.1');
  const [target = ''] = (planMoves(viewSnapshot(snapshot))?.stages ?? [])
    .flat()
    .flatMap((action) =>
      'command' in action && action.command.do === 'moveSlots' ? action.command.target.nodeId : [],
    );
  const planWith = (change: (pod: PodView) => PodView) =>
    planMoves(viewSnapshot({ ...snapshot, pods: snapshot.pods.map(change) }));

  it.each(['fail', 'fail?'])('while one of the others has it as %s', (flag) => {
    const [doubter] = snapshot.pods;
    const decision = planWith((pod) => {
      const { report } = pod;
      if (pod !== doubter || !report?.cluster) return pod;
      const nodes = report.cluster.nodes.map((line) =>
        line.id === target ? { ...line, flags: [...line.flags, flag] } : line,
      );
      return { ...pod, report: { ...report, cluster: { ...report.cluster, nodes } } };
    });
    expect(decision?.stages).toEqual([]);
    expect(decision?.message).toContain(`gets no slots as long as ${doubter?.name} takes it for failed.`);
  });

  it('while its replica has not got its data', () => {
    const decision = planWith((pod) => {
      const { report } = pod;
      if (report?.cluster?.primaryId !== target || !report.replication) return pod;
      return { ...pod, report: { ...report, replication: { ...report.replication, linkUp: false } } };
    });
    expect(decision?.stages).toEqual([]);
    expect(decision?.message).toMatch(/gets no slots as long as \S+ has not got its data yet\./);
  });
});

it('a target that has to wait keeps no source from moving to another', () => {
  const snapshot = growing('8.1', 5);
  const targetsOf = (pods: readonly PodView[]) =>
    (planMoves(viewSnapshot({ ...snapshot, pods: [...pods] }))?.stages ?? [])
      .flat()
      .flatMap((action) =>
        'command' in action && action.command.do === 'moveSlots' ? [action.command.target.nodeId] : [],
      );
  const [first, second, third] = targetsOf(snapshot.pods);
  expect([first === second, first === third]).toEqual([true, false]);
  const others = targetsOf(
    snapshot.pods.map((pod) => {
      const { report } = pod;
      if (report?.cluster?.primaryId !== first || !report?.replication) return pod;
      return { ...pod, report: { ...report, replication: { ...report.replication, linkUp: false } } };
    }),
  );
  expect(others).toEqual([third, third]);
});

describe('slots on their way key by key that are not wanted there any more', () => {
  const snapshot = reversing();
  const ordersFor = (pods: ClusterSnapshot['pods']) => {
    const actions = (planMoves(viewSnapshot({ ...snapshot, pods }))?.stages ?? []).flat();
    return actions.flatMap((action) => ('command' in action ? [action.command.do] : []));
  };

  it('are called back', () => {
    expect(ordersFor(snapshot.pods)).toEqual(['cancelMove', 'cancelMove', 'cancelMove']);
  });

  it('arrive first where some of their keys are there already: else they would be called back each time they are to be finished', () => {
    const onlyOpen = snapshot.pods.map((pod) => {
      const { move, cluster } = pod.report ?? {};
      const slots = cluster?.openSlots.map(({ slot }) => slot).join();
      return move?.state === 'running' && slots
        ? { ...pod, report: { ...pod.report!, move: { ...move, slots } } }
        : pod;
    });
    // Neither does their target give away meanwhile what has arrived.
    expect(ordersFor(onlyOpen)).toEqual([]);
  });
});

it('slots that move key by key come from all sources at once', () => {
  expect(ordersWith(60_000, '8.1').parallel).toBe(3);
});
