import { annotations } from '@valkey-operator/api';
import { SLOT_COUNT } from '@valkey-operator/valkey';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Plan } from '../actions.ts';
import { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import { checkPlan } from '../testing/check-plan.ts';
import { bear, condition, countKeptSlots, settle } from '../testing/settle.ts';

const image = (tag: string) => ({ name: 'docker.io/valkey/valkey', tag, pullPolicy: 'IfNotPresent' }) as const;
const old = { spec: { valkeyImage: image('8.1') } };
const versions = ({ pods }: SimulatedCluster) => [...new Set(pods.map((pod) => pod.image.split(':').at(-1)))];
const uids = ({ pods }: SimulatedCluster) => pods.map(({ uid }) => uid);

/** Every plan until there is nothing to do. */
function watch(cluster: SimulatedCluster, rounds = 300): Plan[] {
  const plans: Plan[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const plan = cluster.reconcile(checkPlan(cluster));
    plans.push(plan);
    if (plan.stages.length === 0 && !plan.stayConnected) break;
    cluster.tick();
  }
  return plans;
}

const deleted = (plans: readonly Plan[]) =>
  plans.flatMap(({ stages }) => stages.flat().flatMap((action) => (action.type === 'DeletePod' ? [action.pod] : [])));

const budgets = (plans: readonly Plan[]) =>
  plans.flatMap(({ stages }) =>
    stages
      .flat()
      .flatMap((action) =>
        action.type === 'ApplyChild' && action.object.kind === 'PodDisruptionBudget'
          ? [(action.object['spec'] as { minAvailable: unknown }).minAvailable]
          : [],
      ),
  );

describe('a change of the image', () => {
  it('replaces every pod once, replicas of a shard before its primary, and loses nothing', () => {
    const cluster = bear(old);
    const primaries = new Set(cluster.primaries.map(({ name }) => name));
    cluster.change({ valkeyImage: image('9.1') });
    const plans = watch(cluster);
    expect(versions(cluster)).toEqual(['9.1']);
    expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
    expect(condition(plans.at(-1)!, 'Ready')).toMatchObject({ status: 'True' });
    const order = deleted(plans).map((pod) => (primaries.has(pod) ? 'primary' : 'replica'));
    expect(order).toEqual(['replica', 'primary', 'replica', 'primary', 'replica', 'primary']);
  });

  it('is one Upgrade from begin to end, and nothing is called drift', () => {
    const cluster = bear(old);
    cluster.change({ valkeyImage: image('9.1') });
    const plans = watch(cluster);
    const ids = new Set(
      plans.flatMap(({ status }) => status.orchestration ?? []).map(({ kind, id }) => `${kind} ${id}`),
    );
    expect([...ids]).toEqual([expect.stringMatching(/^Upgrade /)]);
    expect(plans.flatMap(({ events }) => events.filter(({ reason }) => reason === 'DriftRepaired'))).toEqual([]);
  });

  it('opens the disruption budget for the one pod that is away, and closes it (D2)', () => {
    const cluster = bear(old);
    cluster.change({ valkeyImage: image('9.1') });
    const written = budgets(watch(cluster));
    expect(new Set(written)).toEqual(new Set([5, '100%']));
    expect(written.at(-1)).toBe('100%');
  });

  it('touches nothing while the cluster is paused, and neither does its StatefulSet', () => {
    const cluster = bear(old);
    const before = cluster.children.get('StatefulSet/demo');
    cluster.annotate('paused');
    cluster.change({ valkeyImage: image('9.1') });
    settle(cluster, 20);
    expect(cluster.children.get('StatefulSet/demo')).toBe(before);
  });

  it('that nodes cannot pull though one could costs one replica, which comes back with the old image', () => {
    const cluster = bear(old);
    cluster.imageTrials.blind = true;
    const before = uids(cluster);
    cluster.brokenImages.add('docker.io/valkey/valkey:9.9');
    cluster.change({ valkeyImage: image('9.9') });
    const plans = watch(cluster, 120);
    expect(new Set(deleted(plans)).size).toBe(1);
    expect(versions(cluster)).toEqual(['8.1']);
    expect(uids(cluster).filter((uid) => !before.includes(uid))).toHaveLength(1);
    const last = plans.at(-1)!;
    expect(condition(last, 'Ready')).toMatchObject({ status: 'True' });
    expect(condition(last, 'Degraded')).toMatchObject({ status: 'True', reason: 'RolledBack' });
    expect(condition(last, 'Degraded').message).toMatch(/demo-\d.*no image docker.io\/valkey\/valkey:9.9/);
  });

  it('is tried again after a failure when the spec changes', () => {
    const cluster = bear(old);
    cluster.brokenImages.add('docker.io/valkey/valkey:9.9');
    cluster.change({ valkeyImage: image('9.9') });
    watch(cluster, 120);
    cluster.change({ valkeyImage: image('9.1') });
    const plans = watch(cluster);
    expect(versions(cluster)).toEqual(['9.1']);
    expect(condition(plans.at(-1)!, 'Degraded')).toMatchObject({ status: 'False' });
  });

  it('is corrected at birth, where no pod has started', () => {
    const cluster = new SimulatedCluster({ spec: { valkeyImage: image('9.9') } });
    cluster.brokenImages.add('docker.io/valkey/valkey:9.9');
    settle(cluster, 20);
    cluster.change({ valkeyImage: image('9.1') });
    expect(condition(settle(cluster), 'Ready')).toMatchObject({ status: 'True' });
    expect(versions(cluster)).toEqual(['9.1']);
  });

  it('back over a change of the file format is refused, unless the spec allows it', () => {
    const cluster = bear();
    const before = uids(cluster);
    cluster.change({ valkeyImage: image('8.1') });
    const plan = settle(cluster, 20);
    expect(condition(plan, 'Degraded')).toMatchObject({ status: 'True', reason: 'InvalidSpec' });
    expect(uids(cluster)).toEqual(before);
    cluster.change({ allowDowngrade: true });
    watch(cluster);
    expect(versions(cluster)).toEqual(['8.1']);
  });
});

describe('a roll of a cluster that is to have fewer replicas', () => {
  const crowded = { replicas: 2, spec: { valkeyImage: image('8.1'), pvc: { storageSize: '1Gi' } } };

  it.each([
    ['with the same change of the spec', 0],
    ['while it runs', 3],
  ])('replaces a pod only when every replica that there is serves: %s', (_when, rounds) => {
    const cluster = bear(crowded);
    cluster.change({ valkeyImage: image('9.1') });
    settle(cluster, rounds);
    cluster.change({ replicasPerMaster: 1 });
    const plans = watch(cluster);
    expect(versions(cluster)).toEqual(['9.1']);
    expect(cluster.pods).toHaveLength(6);
    expect(plans.map(({ status }) => status.orchestration?.message)).toContainEqual(
      expect.stringMatching(/^demo-\d must be in sync before the next pod is replaced\.$/),
    );
  });
});

describe('a node that is to become empty', () => {
  const cordon = (cluster: SimulatedCluster, cordoned: boolean) => {
    cluster.kubernetesNodes = cluster.kubernetesNodes.map((node, index) =>
      index === 0 ? { ...node, cordoned } : node,
    );
  };

  it('opens the disruption budget for one pod while pods are on it, and closes it then (D4)', () => {
    const cluster = bear();
    cordon(cluster, true);
    expect(budgets(watch(cluster, 5))).toEqual([5]);
    cordon(cluster, false);
    expect(budgets(watch(cluster, 5))).toEqual(['100%']);
  });
});

describe('a cluster without replicas', () => {
  const alone = { ...old, replicas: 0 };

  it('is not rolled without a word that a gap is allowed, and says what to do', () => {
    const cluster = bear({ ...alone, spec: { ...old.spec, pvc: { storageSize: '1Gi' } } });
    const before = uids(cluster);
    cluster.change({ valkeyImage: image('9.1') });
    const { reason, message } = condition(settle(cluster, 20), 'Degraded');
    expect(reason).toBe('InvalidSpec');
    expect(message).toMatch(/replicasPerMaster to 1.*valkey.io\/allow-gap=true/);
    expect(uids(cluster)).toEqual(before);
    cluster.annotate('allowGap');
    const plans = watch(cluster);
    expect(versions(cluster)).toEqual(['9.1']);
    const told = plans.flatMap(({ events }) => events.map(({ message: text }) => text)).join();
    expect(told).toContain('not served meanwhile');
    const shown = plans.map((each) => condition(each, 'Progressing').message).join();
    expect(shown).toContain('Each shard without a replica is down meanwhile');
    expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
  });

  it('is never rolled where the data is in the pods', () => {
    const cluster = bear(alone);
    cluster.annotate('allowGap');
    cluster.change({ valkeyImage: image('9.1') });
    expect(deleted(watch(cluster, 20))).toEqual([]);
  });
});

describe('a restart', () => {
  it('is asked for by an annotation, once for each pod', () => {
    const cluster = bear();
    const before = uids(cluster);
    cluster.annotate('restartAt', new Date(cluster.now).toISOString());
    cluster.now += 1000;
    const plans = watch(cluster);
    expect(uids(cluster).filter((uid) => before.includes(uid))).toEqual([]);
    expect(deleted(plans)).toHaveLength(6);
    expect(plans.flatMap(({ status }) => status.orchestration?.kind ?? [])).not.toContain('Upgrade');
    expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
  });

  it('does not begin outside a maintenance window, not even by waiting for a sidecar', () => {
    const cluster = bear({ spec: { maintenanceWindows: [{ cron: '0 4 * * *', duration: '1m' }] } });
    cluster.annotate('restartAt', new Date(cluster.now).toISOString());
    cluster.now += 1000;
    const [mute] = cluster.pods;
    mute!.heard = false;
    expect(cluster.reconcile(checkPlan(cluster)).status.orchestration).toBeUndefined();
    mute!.heard = true;
    const plans = watch(cluster, 20);
    expect(deleted(plans)).toEqual([]);
    expect(condition(plans.at(-1)!, 'Progressing')).toMatchObject({ reason: 'WaitingForMaintenanceWindow' });
  });

  it('is not asked for by a time to come', () => {
    const cluster = bear();
    cluster.annotate('restartAt', new Date(cluster.now + 3_600_000).toISOString());
    expect(deleted(watch(cluster, 20))).toEqual([]);
  });
});

describe('other resources', () => {
  const more = { resources: { requests: { memory: '1Gi' }, limits: { memory: '1Gi' } } };

  it('are given to the pods while they run', () => {
    const cluster = bear();
    const before = uids(cluster);
    cluster.change(more);
    const plans = watch(cluster);
    expect(uids(cluster)).toEqual(before);
    expect(plans.flatMap(({ stages }) => stages.flat().filter(({ type }) => type === 'ResizePod'))).toHaveLength(6);
    expect(condition(plans.at(-1)!, 'Progressing')).toMatchObject({ status: 'False' });
  });

  it('cost a restart each where the API server cannot do that', () => {
    const cluster = bear();
    const before = uids(cluster);
    cluster.refusesResize = true;
    cluster.change(more);
    watch(cluster);
    expect(uids(cluster).filter((uid) => before.includes(uid))).toEqual([]);
    expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
  });
});

describe('labels and annotations', () => {
  it('come and go without a restart', () => {
    const cluster = bear();
    const before = uids(cluster);
    cluster.change({ labels: { team: 'shop' }, annotations: { note: 'x' } });
    watch(cluster);
    expect(cluster.pods.map((pod) => [pod.labels['team'], pod.annotations['note']])).toEqual(
      before.map(() => ['shop', 'x']),
    );
    cluster.change({ labels: {} });
    watch(cluster);
    expect(cluster.pods.flatMap((pod) => pod.labels['team'] ?? [])).toEqual([]);
    expect(uids(cluster)).toEqual(before);
  });
});

describe('an upgrade of the operator alone', () => {
  it('restarts no pod, whatever it builds differently', () => {
    const cluster = bear();
    const before = uids(cluster);
    const set = cluster.children.get('StatefulSet/demo')!;
    const spec = structuredClone(set['spec']) as { template: { spec: { terminationGracePeriodSeconds: number } } };
    spec.template.spec.terminationGracePeriodSeconds = 5;
    cluster.children.set('StatefulSet/demo', { ...set, spec });
    watch(cluster);
    expect(uids(cluster)).toEqual(before);
  });

  it('leaves pods alone that do not say what they were made of', () => {
    const cluster = bear();
    const before = uids(cluster);
    for (const pod of cluster.pods) delete pod.annotations[annotations.template];
    watch(cluster);
    expect(uids(cluster)).toEqual(before);
  });
});

describe('a roll, whatever happens meanwhile,', { timeout: 120_000 }, () => {
  const event = fc.oneof(
    fc.record({ kind: fc.constant('pass'), value: fc.integer({ min: 1, max: 8 }) }),
    fc.record({ kind: fc.constant('killed operator'), value: fc.nat(6) }),
    fc.record({ kind: fc.constantFrom('kill', 'lose pod', 'cut', 'hear'), value: fc.nat(11) }),
  );

  function undergo(cluster: SimulatedCluster, { kind, value }: { kind: string; value: number }): void {
    const pod = cluster.pods[value % cluster.pods.length];
    if (kind === 'pass')
      for (let second = 0; second < value; second += 1) {
        cluster.reconcile(checkPlan(cluster));
        cluster.tick();
      }
    if (kind === 'killed operator') cluster.reconcile(checkPlan(cluster), value);
    if (!pod) return;
    if (kind === 'kill') cluster.killProcess(pod.ordinal);
    if (kind === 'lose pod') cluster.losePod(pod.ordinal);
    if (kind === 'cut') pod.heard = false;
    if (kind === 'hear') for (const each of cluster.pods) each.heard = true;
  }

  it('ends with every pod of the new template and with all data', () => {
    const shape = fc.record({ replicas: fc.integer({ min: 1, max: 2 }), zones: fc.integer({ min: 1, max: 3 }) });
    fc.assert(
      fc.property(shape, fc.array(event, { maxLength: 12 }), (options, events) => {
        const cluster = bear({ ...old, ...options });
        cluster.change({ valkeyImage: image('9.1') });
        for (const each of events) undergo(cluster, each);
        for (const pod of cluster.pods) pod.heard = true;
        watch(cluster);
        expect(versions(cluster)).toEqual(['9.1']);
        expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
      }),
      { numRuns: 25 },
    );
  });
});
