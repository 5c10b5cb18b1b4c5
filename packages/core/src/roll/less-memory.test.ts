import { describe, expect, it } from 'vitest';
import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import type { SimulationOptions } from '../simulation/simulation-options.ts';
import { checkPlan } from '../testing/check-plan.ts';
import { bear, condition, settle } from '../testing/settle.ts';

const image = (tag: string) => ({ name: 'docker.io/valkey/valkey', tag, pullPolicy: 'IfNotPresent' }) as const;
const memory = (size: string) => ({ resources: { requests: { memory: size }, limits: { memory: size } } });
const typo = { config: { 'maxmemory-polcy': 'x' } };
const large = (options: SimulationOptions = {}) =>
  bear({ ...options, spec: { ...memory('1Gi'), valkeyImage: image('8.1') } });
const maxmemory = ({ pods }: SimulatedCluster) => [
  ...new Set(pods.map(({ settings }) => settings.settings['maxmemory'])),
];

/** Every plan of so many seconds, which must not give a Valkey less memory than it may use. */
const watch = (cluster: SimulatedCluster, seconds = 30) =>
  Array.from({ length: seconds }, () => {
    const plan = cluster.reconcile(checkPlan(cluster));
    cluster.tick();
    return plan;
  });

const limits = (plans: ReturnType<typeof watch>) =>
  plans.flatMap(({ stages }) =>
    stages.flat().flatMap((action) => (action.type === 'ResizePod' ? [action.resources.limits?.memory] : [])),
  );

describe('pods that are to have less memory', () => {
  it('get it when their Valkey uses less', () => {
    const cluster = large();
    cluster.change(memory('512Mi'));
    expect(limits(watch(cluster))).toEqual(cluster.pods.map(() => '512Mi'));
    expect(maxmemory(cluster)).toEqual(['402653184']);
  });

  it.each([
    ['that is none', typo],
    ['that is no size', { config: { maxmemory: 'half' } }],
  ])('keep what they have while any setting is refused, such as one %s', (_what, config: object) => {
    const cluster = large();
    for (const { refuses } of cluster.pods) refuses.add('half');
    cluster.change({ ...memory('512Mi'), ...config });
    const plans = watch(cluster);
    expect(limits(plans)).toEqual([]);
    expect(maxmemory(cluster)).toEqual(['805306368']);
    const { reason, message } = condition(plans.at(-1)!, 'Degraded');
    expect(reason).toBe('ConfigRejected');
    expect(message).toMatch(
      /^(spec|Valkey).* Every node keeps its old settings\. No pod gets the memory limit 512Mi before maxmemory, which is 805306368, is \w+\.$/,
    );
    cluster.change({ config: {} });
    expect(limits(watch(cluster))).toHaveLength(6);
  });

  it('keep what they have also when one of them is made anew meanwhile', () => {
    const cluster = large();
    cluster.change({ ...memory('512Mi'), ...typo });
    watch(cluster, 3);
    const { ordinal, uid } = cluster.pods.find(({ node }) => node?.role === 'replica')!;
    Object.assign(cluster.pod(ordinal), { broken: true, process: 'down', node: undefined });
    watch(cluster, 3);
    cluster.losePod(ordinal);
    const [plan] = watch(cluster).slice(-1);
    expect(cluster.pod(ordinal).uid).not.toBe(uid);
    expect(condition(plan!, 'Ready')).toMatchObject({ status: 'True' });
  });

  it('wait for that also within an upgrade that runs, which goes on under its name', () => {
    const cluster = large();
    cluster.change({ valkeyImage: image('9.1') });
    const [{ status }] = watch(cluster, 6).slice(-1) as [ReturnType<typeof settle>];
    cluster.change(memory('512Mi'));
    const [{ status: waiting }] = watch(cluster, 1) as [ReturnType<typeof settle>];
    expect(waiting.orchestration?.kind).toBe('Reconfigure');
    expect(waiting.pendingOrchestrations).toMatchObject([{ kind: 'Upgrade', id: status.orchestration?.id }]);
    expect(condition(settle(cluster, 300), 'Degraded')).toMatchObject({ status: 'False' });
    expect(new Set(cluster.pods.map((pod) => pod.image))).toEqual(new Set(['docker.io/valkey/valkey:9.1']));
    expect(maxmemory(cluster)).toEqual(['402653184']);
  });

  it('keep what they have where their data does not fit into less, and it is said which and what to do', () => {
    const cluster = large({ usedBytes: 600_000_000, maxBytes: 805_306_368 });
    cluster.change(memory('512Mi'));
    const plans = watch(cluster);
    expect(limits(plans)).toEqual([]);
    expect(maxmemory(cluster)).toEqual(['805306368']);
    const { reason, message } = condition(plans.at(-1)!, 'Degraded');
    expect(reason).toBe('DataDoesNotFit');
    expect(message).toMatch(/^The data does not fit into a maxmemory of 384 MiB.*limit 512Mi before maxmemory/);
  });
});

describe('pods that find no node', () => {
  it.each<[string, (cluster: SimulatedCluster) => void, number]>([
    ['for new shards', (cluster) => cluster.change({ masterCount: 4 }), 8],
    ['for more replicas', (cluster) => cluster.change({ replicasPerMaster: 2 }), 9],
    ['where another was lost', (cluster) => cluster.losePod(0), 6],
  ])('%s get less memory when the spec asks for that', (_what, strike, pods) => {
    const cluster = bear({ spec: { ...memory('4Gi'), valkeyImage: image('9.1'), pvc: { storageSize: '1Gi' } } });
    cluster.nodeMemory = 3 * 1024 ** 3;
    strike(cluster);
    watch(cluster, 10);
    expect(cluster.pods.filter(({ homeless }) => homeless)).not.toEqual([]);
    cluster.now += 15 * 60_000;
    watch(cluster, 3);
    cluster.change(memory('2Gi'));
    expect(condition(settle(cluster, 300), 'Ready')).toMatchObject({ status: 'True' });
    expect(cluster.pods.map((pod) => pod.memory)).toEqual(Array.from({ length: pods }, () => 2 * 1024 ** 3));
    expect(maxmemory(cluster)).toEqual([String(1.5 * 1024 ** 3)]);
  });
});
