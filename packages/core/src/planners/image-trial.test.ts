import { describe, expect, it } from 'vitest';
import type { Plan } from '../actions.ts';
import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import type { TrialView } from '../snapshot.ts';
import { checkPlan } from '../testing/check-plan.ts';
import { bear, condition, settle } from '../testing/settle.ts';
import { askFor, pass, versions } from '../testing/upgrades.ts';

const image = (tag: string) => ({ name: 'docker.io/valkey/valkey', tag, pullPolicy: 'IfNotPresent' }) as const;
const old = { spec: { valkeyImage: image('8.1') } };

function watch(cluster: SimulatedCluster, seconds: number): Plan {
  let plan: Plan | undefined;
  for (let second = 0; second < seconds; second += 1) {
    plan = cluster.reconcile(checkPlan(cluster));
    cluster.tick();
  }
  return plan!;
}

const uids = (cluster: SimulatedCluster) => cluster.pods.map(({ uid }) => uid);

/** A cluster that asks for another image, of which the pod that tries it has said this. */
function hear(words: Partial<TrialView>): { cluster: SimulatedCluster; before: string[] } {
  const cluster = bear(old);
  const before = uids(cluster);
  cluster.change({ valkeyImage: image('9.1') });
  watch(cluster, 1);
  cluster.imageTrials.current = { ...cluster.imageTrials.current!, verdict: 'unknown', ...words };
  return { cluster, before };
}

describe('another image', () => {
  it('shows on a pod of its own what it is before any pod is replaced for it, and that pod goes', () => {
    const cluster = bear(old);
    cluster.change({ valkeyImage: image('9.1') });
    const { status, stages } = cluster.reconcile(checkPlan(cluster));
    expect(stages.flat()).toEqual([expect.objectContaining({ type: 'ApplyChild' })]);
    expect(status.orchestration).toMatchObject({ kind: 'Upgrade', message: expect.stringMatching(/^Starts .*:9\.1 /) });
    expect(cluster.imageTrials.current?.name).toBe('demo-image-trial');
    settle(cluster, 300);
    expect(versions(cluster)).toEqual(['9.1']);
    expect(cluster.imageTrials.current).toBeUndefined();
  });

  it.each<[string, Partial<TrialView>, RegExp]>([
    [
      'is no Valkey',
      { verdict: 'refused', message: 'exec: "valkey-server": executable file not found' },
      /no Valkey comes of it: exec: "valkey-server"/,
    ],
    ['is another version than its tag says', { verdict: 'accepted', version: '8.0.1' }, /says that it is 8\.0\.1/],
    [
      'cannot be had for a while',
      { createdAt: 0, stuck: true, message: 'container valkey does not start (ErrImagePull: no such host)' },
      /does not start \((ErrImagePull|ImagePullBackOff): no /,
    ],
  ])('that %s is not rolled out, and the condition says why', (_, words, why) => {
    const { cluster, before } = hear(words);
    if (words.verdict === undefined) cluster.brokenImages.add('docker.io/valkey/valkey:9.1');
    const plan = watch(cluster, 60);
    expect(uids(cluster)).toEqual(before);
    const told = expect.stringMatching(
      /^spec\.valkeyImage asks for .*:9\.1, but on a pod of its own, demo-image-trial, .*no pod was touched/,
    );
    expect(condition(plan, 'Degraded')).toEqual({ status: 'True', reason: 'ImageUnavailable', message: told });
    expect(condition(plan, 'Degraded').message).toMatch(why);
    expect(condition(plan, 'Ready')).toMatchObject({ status: 'True' });
  });

  it('that was refused leaves nothing behind when the spec is corrected', () => {
    const { cluster, before } = hear({ verdict: 'refused', message: 'exec format error' });
    watch(cluster, 10);
    cluster.change({ valkeyImage: image('8.1') });
    expect(condition(settle(cluster), 'Degraded')).toMatchObject({ status: 'False' });
    expect(uids(cluster)).toEqual(before);
    expect(cluster.imageTrials.current).toBeUndefined();
  });

  it('that was refused is not what a pod is made of that has to be made anew', () => {
    const { cluster } = hear({ verdict: 'refused', message: 'exec format error' });
    watch(cluster, 3);
    Object.assign(cluster.pod(4), { broken: true, process: 'down', node: undefined });
    watch(cluster, 3);
    cluster.losePod(4);
    watch(cluster, 20);
    expect(versions(cluster)).toEqual(['8.1']);
  });

  it('is rolled out as soon as it can be had after all', () => {
    const { cluster } = hear({ createdAt: 0, stuck: true, message: 'container valkey does not start (ErrImagePull)' });
    settle(cluster, 300);
    expect(versions(cluster)).toEqual(['9.1']);
  });

  it('that is the answer to one that cannot be had any more is proven first, and then heals', () => {
    const cluster = bear(old);
    cluster.brokenImages.add('docker.io/valkey/valkey:8.1');
    cluster.losePod(4);
    watch(cluster, 5);
    cluster.change({ valkeyImage: image('8.2') });
    const { stages } = cluster.reconcile(checkPlan(cluster));
    expect(stages.flat().map((action) => action.type === 'ApplyChild' && action.object.kind)).toEqual(['Pod']);
    settle(cluster, 400);
    expect(versions(cluster)).toEqual(['8.2']);
  });

  it('waits for room for the pod on which it shows what it is, however long that takes, and says so', () => {
    const { cluster, before } = hear({ createdAt: 0, message: '0/3 nodes are available: 3 Insufficient cpu.' });
    const { status } = cluster.reconcile(checkPlan(cluster));
    expect(status.orchestration?.message).toMatch(/^Starts .*Insufficient cpu\. To do without, annotate/);
    expect(uids(cluster)).toEqual(before);
    settle(cluster, 300);
    expect(versions(cluster)).toEqual(['9.1']);
  });

  it('is asked again with other pull secrets', () => {
    const { cluster } = hear({ createdAt: 0, stuck: true, message: 'container valkey does not start (ErrImagePull)' });
    cluster.imageTrials.blind = true;
    const { uid } = cluster.imageTrials.current!;
    cluster.change({ valkeyImage: { ...image('9.1'), imagePullSecrets: [{ name: 'registry' }] } });
    const { stages } = cluster.reconcile(checkPlan(cluster));
    expect(stages.flat()).toContainEqual(expect.objectContaining({ type: 'DeleteChild', uid }));
    settle(cluster, 300);
    expect(versions(cluster)).toEqual(['9.1']);
  });

  it('is asked again when the pod ended without a word', () => {
    const { cluster } = hear({ verdict: 'void' });
    settle(cluster, 300);
    expect(versions(cluster)).toEqual(['9.1']);
  });

  it('that a person has given their word for is shown by one replica', () => {
    const cluster = bear(old);
    cluster.annotate('allowUnknownVersion');
    cluster.change({ valkeyImage: image('9.1') });
    const plan = cluster.reconcile(checkPlan(cluster));
    expect(plan.stages.flat().map((action) => action.type === 'ApplyChild' && action.object.kind)).not.toContain('Pod');
    settle(cluster, 300);
    expect(versions(cluster)).toEqual(['9.1']);
  });

  it('waits, and says so, while no pod may be made for it, and holds up no other change', () => {
    const cluster = bear(old);
    cluster.refusals.judge = ({ kind }) => (kind === 'Pod' ? 'exceeded quota: pods' : undefined);
    cluster.change({ valkeyImage: image('9.1'), config: { hz: '20' } });
    const plan = watch(cluster, 30);
    expect(condition(plan, 'Progressing')).toMatchObject({
      reason: 'ChildRefused',
      message: expect.stringMatching(/Pod demo-image-trial: exceeded quota: pods.*allow-unknown-version=true/),
    });
    expect(new Set(cluster.pods.map(({ settings }) => settings.settings['hz']))).toEqual(new Set(['20']));
    cluster.refusals.judge = () => undefined;
    cluster.now += 30_000;
    settle(cluster, 300);
    expect(versions(cluster)).toEqual(['9.1']);
  });

  it('is asked for no more when it is cancelled, and what said what it is goes', () => {
    const { cluster, before } = hear({});
    cluster.annotate('cancel');
    settle(cluster);
    expect(cluster.imageTrials.current).toBeUndefined();
    expect(uids(cluster)).toEqual(before);
  });

  it('that a ValkeyUpgrade asks for and that is no Valkey makes that fail, and the spec counts again', () => {
    const cluster = bear(old);
    const before = uids(cluster);
    const upgrade = askFor(cluster, 'up', { targetVersion: '9.1' });
    for (let second = 0; second < 10 && !cluster.imageTrials.current; second += 1) pass(cluster, 1);
    cluster.imageTrials.current = { ...cluster.imageTrials.current!, verdict: 'refused', message: 'not found' };
    const plan = watch(cluster, 5);
    expect(upgrade.status).toMatchObject({
      phase: 'Failed',
      conditions: [
        { reason: 'UpgradeRefused', message: expect.stringMatching(/^ValkeyUpgrade up asks for .*:9\.1, but/) },
      ],
    });
    expect(condition(plan, 'Degraded')).toMatchObject({ status: 'False' });
    expect(uids(cluster)).toEqual(before);
    expect(cluster.snapshot().spec.valkeyImage.tag).toBe('8.1');
  });
});
