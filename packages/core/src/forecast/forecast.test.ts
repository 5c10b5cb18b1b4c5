import { builtInDefaults } from '@valkey-operator/api';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Plan } from '../actions.ts';
import { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import { isSettled } from '../testing/check-plan.ts';
import { bear, settle } from '../testing/settle.ts';
import { describeEffect } from './effects.ts';
import { forecast, forecastInSteps } from './forecast.ts';
import { formatForecast } from './format-forecast.ts';
import { planAhead } from './plan-ahead.ts';

/** What really becomes of it: every effect that a person would notice. */
function undergo(cluster: SimulatedCluster): string[] {
  const seen = new Set<string>();
  const note = ({ stages }: Plan) => {
    for (const action of stages.flat()) {
      const effect = describeEffect(cluster, action);
      if (effect) seen.add(effect.text);
    }
  };
  for (let plan = cluster.reconcile(note), round = 0; !isSettled(plan) && round < 300; round += 1) {
    cluster.tick();
    plan = cluster.reconcile(note);
  }
  return [...seen];
}

describe('a forecast', () => {
  it('says nothing of a cluster that is as it should be', () => {
    expect(formatForecast(forecast(bear().snapshot()))).toBe('Nothing to do.');
  });

  it('is what then happens, step by step', { timeout: 120_000 }, () => {
    const shape = fc.record({ shards: fc.integer({ min: 3, max: 4 }), replicas: fc.integer({ min: 0, max: 2 }) });
    fc.assert(
      fc.property(shape, fc.integer({ min: 0, max: 3 }), (options, replicasPerMaster) => {
        const cluster = bear(options);
        cluster.change({ replicasPerMaster });
        const { steps, blockedBy, pods } = forecast(cluster.snapshot());
        const before = cluster.pods.map(({ name }) => name);
        expect(steps.map((step) => step.replace(/: \d+ slots$/, ''))).toEqual(undergo(cluster));
        const after = cluster.pods.map(({ name }) => name);
        const changed = [...before, ...after].filter((name) => before.includes(name) !== after.includes(name));
        expect(pods).toEqual(changed);
        expect(blockedBy).toEqual([]);
      }),
      { numRuns: 10 },
    );
  });

  it('of an exporter that comes names its Service and each pod, and is what then happens', () => {
    const cluster = bear();
    cluster.change({ exporter: { ...builtInDefaults.exporter, enabled: true } });
    const { steps, pods, kinds, disruptive } = forecast(cluster.snapshot());
    expect({ kinds, disruptive }).toEqual({ kinds: ['Reconfigure'], disruptive: true });
    expect(pods).toEqual(cluster.pods.map(({ name }) => name));
    expect(steps).toContain('Create Service demo-exporter');
    expect(steps).toEqual(undergo(cluster));
  });

  it('of a restart names each pod once and the failovers it takes, and is what then happens', () => {
    const cluster = bear();
    cluster.annotate('restartAt', new Date(cluster.now).toISOString());
    const { steps, pods, kinds, failovers, disruptive } = forecast(cluster.snapshot());
    expect({ kinds, disruptive }).toEqual({ kinds: ['Restart'], disruptive: true });
    expect(pods).toEqual(cluster.pods.map(({ name }) => name));
    expect(failovers).toBe(3);
    expect(steps).toEqual(undergo(cluster));
  });

  it('of a restart of shards that are alone says that they are not served meanwhile, and is what then happens', () => {
    const cluster = bear({ replicas: 0, spec: { pvc: { storageSize: '1Gi' } } });
    cluster.annotate('allowGap');
    cluster.annotate('restartAt', new Date(cluster.now).toISOString());
    const { steps, failovers, disruptive } = forecast(cluster.snapshot());
    expect(steps).toContain('Replace pod demo-0, the only one of slots 0-5460, which are not served meanwhile');
    expect({ failovers, disruptive }).toEqual({ failovers: 0, disruptive: true });
    expect(steps).toEqual(undergo(cluster));
  });

  it('of pods that Kubernetes did not put where their ordinal tells moves none of them elsewhere', () => {
    const cluster = bear({ spec: { pvc: { storageSize: '1Gi' } } });
    for (const pod of cluster.pods) {
      const { kubernetesNode: name, zone } = cluster.pod((pod.ordinal * 2) % 6);
      cluster.homes.set(pod.ordinal, { name, zone, ready: true });
    }
    cluster.annotate('restartAt', new Date(cluster.now).toISOString());
    cluster.now += 1000;
    settle(cluster);
    cluster.annotate('restartAt', new Date(cluster.now).toISOString());
    cluster.now += 1000;
    expect(forecast(cluster.snapshot()).steps).toEqual(undergo(cluster));
  });

  it('touches nothing of what it looks at', () => {
    const cluster = bear();
    cluster.change({ replicasPerMaster: 0 });
    const snapshot = structuredClone(cluster.snapshot());
    const before = structuredClone(snapshot);
    forecast(snapshot);
    expect(snapshot).toEqual(before);
  });

  it('pauses after each second of the model, so that nobody waits for all of it', () => {
    const cluster = bear();
    cluster.annotate('restartAt', new Date(cluster.now).toISOString());
    const ticks = vi.spyOn(SimulatedCluster.prototype, 'tick');
    onTestFinished(() => ticks.mockRestore());
    const steps = forecastInSteps(cluster.snapshot());
    let pauses = 0;
    let step = steps.next();
    for (; !step.done; step = steps.next()) expect(ticks).toHaveBeenCalledTimes(pauses++);
    expect(pauses).toBeGreaterThan(20);
    expect(step.value).toEqual(forecast(cluster.snapshot()));
  });

  it('names what stands in the way', () => {
    const cluster = bear();
    const [orphan] = cluster.pods.filter(({ node }) => node?.role === 'replica');
    Object.assign(orphan!.node!, { role: 'primary', primaryId: undefined });
    const { blockedBy } = forecast(cluster.snapshot());
    expect(blockedBy.join()).toContain('has keys but no slots');
  });
});

describe('the status of a change that waits', () => {
  it('has its plan, until it begins', () => {
    const cluster = bear();
    cluster.annotate('paused');
    cluster.change({ replicasPerMaster: 2 });
    const paused = planAhead(cluster.snapshot());
    expect(paused.stages).toEqual([]);
    expect(paused.status.plan).toMatchObject({
      pods: ['demo-6', 'demo-7', 'demo-8'],
      podsTouched: 3,
      failovers: 0,
      disruptive: false,
    });
    cluster.annotate('paused', 'false');
    expect(planAhead(cluster.snapshot()).status.plan).toBeUndefined();
    settle(cluster);
    expect(cluster.pods).toHaveLength(9);
  });

  it('has none as long as nobody knows it, and is told all the rest', () => {
    const cluster = bear();
    cluster.annotate('paused');
    cluster.change({ replicasPerMaster: 2 });
    const bases: string[] = [];
    const { status } = planAhead(cluster.snapshot(), (_, basis) => void bases.push(basis));
    expect(status).toMatchObject({ pendingOrchestrations: [{ kind: 'ScaleReplicas' }] });
    expect(status.plan).toBeUndefined();
    expect(bases).toEqual([planAhead(cluster.snapshot()).status.plan?.basis]);
  });

  it('keeps it until a newer one is known, unless something else is asked for', () => {
    const cluster = bear({ usedBytes: 1_000_000 });
    cluster.annotate('paused');
    cluster.change({ replicasPerMaster: 2 });
    const { status } = planAhead(cluster.snapshot());
    cluster.cluster = { ...cluster.cluster, status };
    cluster.memory.note(0, { usedBytes: 2_000_000, maxBytes: 0 });
    cluster.memory.note(1, { usedBytes: 2_000_000, maxBytes: 0 });
    const asked: string[] = [];
    const planLate = () => planAhead(cluster.snapshot(), (_, basis) => void asked.push(basis)).status.plan;
    expect(planLate()).toEqual(status.plan);
    expect(asked).toHaveLength(1);
    cluster.change({ replicasPerMaster: 3 });
    expect(planLate()).toBeUndefined();
  });

  it('is made anew only when what it is made of has changed', () => {
    const cluster = bear();
    cluster.annotate('paused');
    cluster.change({ replicasPerMaster: 2 });
    const { status } = planAhead(cluster.snapshot());
    const marked = { ...status, plan: { ...status.plan!, steps: ['as before'] } };
    cluster.cluster = { ...cluster.cluster, status: marked };
    cluster.now += 60_000;
    expect(planAhead(cluster.snapshot()).status.plan?.steps).toEqual(['as before']);
    cluster.change({ replicasPerMaster: 3 });
    expect(planAhead(cluster.snapshot()).status.plan?.steps).not.toEqual(['as before']);
  });
});
