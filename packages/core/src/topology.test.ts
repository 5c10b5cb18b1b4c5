import { expect, it } from 'vitest';
import { planCluster } from './plan.ts';
import type { ClusterSnapshot } from './snapshot.ts';
import { bear } from './testing/settle.ts';
import { deriveTopology } from './topology.ts';

/** After a handover: the old primary has said that it follows, the new one not yet that it leads. */
function handedOver(): ClusterSnapshot {
  const snapshot = bear().snapshot();
  const { primary, replicas, slots } = deriveTopology(snapshot).shards[0]!;
  const [heir] = replicas as [(typeof replicas)[number]];
  const nodes = primary.cluster.nodes.map((line) => {
    if (line.id === heir.id) return { ...line, primaryId: '', slots: slots.toString(), configEpoch: 99 };
    return line.id === primary.id ? { ...line, primaryId: heir.id, slots: '' } : line;
  });
  const cluster = { ...primary.cluster, role: 'replica', primaryId: heir.id, slots: '', nodes } as const;
  const pods = snapshot.pods.map((pod) =>
    pod === primary.pod ? { ...pod, report: { ...primary.report, cluster } } : pod,
  );
  return { ...snapshot, pods };
}

it('a shard whose two members have just changed places is left to them', () => {
  const topology = deriveTopology(handedOver());
  expect(topology.strays).toEqual([]);
  expect(topology.unowned.isEmpty).toBe(true);
  const { stages } = planCluster(handedOver());
  expect(stages.flat().filter(({ type }) => type === 'CommandNode')).toEqual([]);
});
