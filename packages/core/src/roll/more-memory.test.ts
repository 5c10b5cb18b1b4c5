import { describe, expect, it } from 'vitest';
import type { Plan } from '../actions.ts';
import { forecast } from '../forecast/forecast.ts';
import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import { checkPlan } from '../testing/check-plan.ts';
import { bear, condition, settle } from '../testing/settle.ts';

const GIBIBYTE = 1024 ** 3;
const memory = (size: string) => ({ resources: { requests: { memory: size }, limits: { memory: size } } });
const small = () => bear({ spec: { ...memory('1Gi'), config: { maxmemory: '700mb' } } });
const large = (config: Record<string, string> = {}) => ({ ...memory('8Gi'), config: { maxmemory: '6gb', ...config } });

const inUse = ({ pods }: SimulatedCluster, name = 'maxmemory') =>
  new Set(pods.map(({ settings }) => settings.settings[name]));

/** Every plan of so many seconds, which must not have a Valkey use more than its pod has. */
function watch(cluster: SimulatedCluster, seconds = 30): Plan[] {
  return Array.from({ length: seconds }, () => {
    const plan = cluster.reconcile(checkPlan(cluster));
    cluster.tick();
    return plan;
  });
}

const AWAITED =
  'maxmemory becomes 6gb when every pod has the memory that the spec asks for, and stays 700mb until then.';

describe('a larger maxmemory that comes with more memory', () => {
  it('is set when every pod has that memory, as the rest of the same operation, and until then it is said', () => {
    const cluster = small();
    cluster.change(large());
    const plans = watch(cluster);
    expect(inUse(cluster)).toEqual(new Set(['6gb']));
    const told = plans.map((plan) => condition(plan, 'Progressing').message ?? '');
    expect(told[0]).toBe(`Every pod is changed while it runs: its resources. ${AWAITED}`);
    const tried = told.findIndex((message) => message.startsWith('Tries maxmemory 700mb -> 6gb on '));
    const waiting = told.slice(0, tried - 1);
    expect(waiting.filter((message) => !message.endsWith(AWAITED))).toEqual([]);
    const ids = plans.map(({ status }) => status.orchestration?.id).filter((id) => id !== undefined);
    expect(new Set(ids).size).toBe(1);
    expect(plans.slice(0, ids.length).map(({ status }) => status.orchestration?.id)).toEqual(ids);
  });

  it('does not keep other settings of the same change waiting', () => {
    const cluster = small();
    cluster.change(large({ 'maxmemory-policy': 'allkeys-lru' }));
    watch(cluster, 4);
    expect(cluster.pods.map((pod) => pod.memory)).toEqual(cluster.pods.map(() => GIBIBYTE));
    expect(inUse(cluster, 'maxmemory-policy')).toEqual(new Set(['allkeys-lru']));
    expect(inUse(cluster)).toEqual(new Set(['700mb']));
  });

  it('does not wait where every pod has enough already', () => {
    const cluster = small();
    cluster.nodeMemory = GIBIBYTE;
    cluster.change({ ...memory('8Gi'), config: { maxmemory: '900mb' } });
    watch(cluster, 4);
    expect(inUse(cluster)).toEqual(new Set(['900mb']));
  });

  it('is in the plan before the change, after the pods', () => {
    const cluster = small();
    cluster.change(large());
    const { steps, blockedBy } = forecast(cluster.snapshot());
    expect(blockedBy).toEqual([]);
    expect(steps.slice(-3)).toEqual([
      expect.stringMatching(/^Pod demo-\d gets its new resources/),
      'Set maxmemory 700mb -> 6gb on every node',
      'Keep these settings for the next start of every node',
    ]);
  });

  it('waits on when the pods could not get the memory, and it is said with that', () => {
    const cluster = small();
    cluster.nodeMemory = 2 * GIBIBYTE;
    cluster.change(large());
    watch(cluster);
    cluster.now += 11 * 60_000;
    const last = watch(cluster, 60).at(-1)!;
    expect(inUse(cluster)).toEqual(new Set(['700mb']));
    const { reason, message } = condition(last, 'Degraded');
    expect(reason).toBe('RolledBack');
    expect(message).toMatch(new RegExp(`${AWAITED}$`));
    cluster.change({ ...memory('1Gi'), config: { maxmemory: '900mb' } });
    expect(condition(settle(cluster), 'Degraded')).toMatchObject({ status: 'False' });
    expect(inUse(cluster)).toEqual(new Set(['900mb']));
  });

  it('waits on when the change was cancelled before all pods had the memory, and it is said with that', () => {
    const cluster = small();
    cluster.change({ ...large(), valkeyImage: { ...cluster.spec.valkeyImage, tag: '9.2' } });
    watch(cluster, 3);
    cluster.annotate('cancel');
    const { reason, message } = condition(settle(cluster, 300), 'Progressing');
    expect(reason).toBe('Cancelled');
    expect(message).toMatch(new RegExp(`^Upgrade was cancelled.*${AWAITED}$`));
    expect(inUse(cluster)).toEqual(new Set(['700mb']));
  });

  it('waits also for pods that have less because the limit was to be lowered a moment ago', () => {
    const cluster = bear({ spec: memory('8Gi') });
    cluster.change(memory('1Gi'));
    const isOneSmaller = () => cluster.pods.some((pod) => pod.memory === GIBIBYTE && pod.resize === undefined);
    for (let second = 0; second < 30 && !isOneSmaller(); second += 1) watch(cluster, 1);
    cluster.change(memory('4Gi'));
    watch(cluster, 60);
    expect(cluster.pods.map((pod) => pod.memory)).toEqual(cluster.pods.map(() => 4 * GIBIBYTE));
    expect(inUse(cluster)).toEqual(new Set(['3221225472']));
  });

  it('that has no limit waits as well', () => {
    const cluster = small();
    cluster.change({ ...memory('8Gi'), config: { maxmemory: '0' } });
    const [plan] = watch(cluster, 1);
    expect(condition(plan!, 'Progressing').message).toContain('maxmemory becomes 0 when every pod');
    watch(cluster);
    expect(inUse(cluster)).toEqual(new Set(['0']));
  });
});
