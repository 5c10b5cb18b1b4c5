import { SLOT_COUNT } from '@valkey-operator/valkey';
import { describe, expect, it } from 'vitest';
import type { Plan } from '../actions.ts';
import { planCluster } from '../plan.ts';
import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import type { ClusterSnapshot } from '../snapshot.ts';
import { bear, condition, countKeptSlots } from '../testing/settle.ts';
import { pass, versions } from '../testing/upgrades.ts';

const image = (tag: string) => ({ name: 'valkey', tag, pullPolicy: 'IfNotPresent' }) as const;

/** Key by key, for that takes longest. */
const old = { spec: { valkeyImage: image('8.1') } };

function isMoving({ nodes }: SimulatedCluster): boolean {
  return nodes.some(({ move }) => move?.state === 'running');
}

/** The same at a moment at which the last of its primaries gives slots to the first. */
function withMove({ pods, ...snapshot }: ClusterSnapshot, { primaries }: SimulatedCluster): ClusterSnapshot {
  const [to, from] = [primaries[0]!.node, primaries.at(-1)!.node];
  const nothing = { movedSlots: 0, movedKeys: 0, leftKeys: 9, elapsedMs: 1, failures: 0, message: '', notableKeys: [] };
  const move = { state: 'running', targetId: to.id, slots: from.slots.lowest(9).toString(), ...nothing } as const;
  const giving = ({ report, ...pod }: ClusterSnapshot['pods'][number]) => ({
    ...pod,
    ...(report && { report: report.cluster?.nodeId === from.id ? { ...report, move } : report }),
  });
  return { ...snapshot, pods: pods.map(giving) };
}

/** What takes a pod or a primary out of service, and what ends a move. */
function listDeeds({ stages }: Plan): string[] {
  const deeds = stages.flat().map((action) => (action.type === 'CommandNode' ? action.command.do : action.type));
  return deeds.filter((deed) => ['DeletePod', 'failover', 'cancelMove'].includes(deed));
}

describe('while the pods of a roll are replaced slots rest', () => {
  it('whatever they are on their way for', () => {
    const cluster = bear(old);
    cluster.change({ valkeyImage: image('9.1') });
    const seen = new Set<string>();
    for (let second = 0; second < 60; second += 1) {
      const snapshot = cluster.snapshot();
      const plan = planCluster(snapshot);
      const [deed] = listDeeds(plan);
      // Who does not serve is no loss.
      if (deed && condition(plan, 'Ready').status === 'True') {
        seen.add(deed);
        expect(listDeeds(planCluster(withMove(snapshot, cluster)))).toEqual(['cancelMove']);
      }
      pass(cluster, 1);
    }
    expect([...seen].toSorted()).toEqual(['DeletePod', 'failover']);
  });

  it('that go back to where they were before somebody moved them', () => {
    const cluster = bear(old);
    const [from, to] = cluster.primaries.map(({ node }) => node);
    const slots = from!.slots.lowest(5000);
    from!.slots = from!.slots.difference(slots);
    to!.slots = to!.slots.union(slots);
    to!.data = to!.data.union(slots);
    to!.epoch += 10;
    for (let second = 0; second < 10 && !isMoving(cluster); second += 1) pass(cluster, 1);
    expect(isMoving(cluster)).toBe(true);
    cluster.change({ valkeyImage: image('9.1') });
    pass(cluster, 120);
    expect(versions(cluster)).toEqual(['9.1']);
    expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
    const counts = cluster.primaries.map(({ node }) => node.slots.count);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
  });
});
