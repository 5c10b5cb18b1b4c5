import type { ValkeyUpgrade } from '@valkey-operator/api';
import { SLOT_COUNT } from '@valkey-operator/valkey';
import { describe, expect, it } from 'vitest';
import { checkPlan } from '../testing/check-plan.ts';
import { bear, countKeptSlots } from '../testing/settle.ts';
import { askFor, pass, versions } from '../testing/upgrades.ts';

const image = (tag: string) => ({ name: 'docker.io/valkey/valkey', tag, pullPolicy: 'IfNotPresent' }) as const;
const old = { spec: { valkeyImage: image('8.0') } };
const complete = ({ status }: ValkeyUpgrade) => status?.conditions?.[0];

describe('a ValkeyUpgrade', () => {
  it('brings its cluster to the target, whose spec stays as it is', () => {
    const cluster = bear(old);
    const written = structuredClone(cluster.cluster.spec);
    const upgrade = askFor(cluster, 'to-nine', { targetVersion: '9.1' });
    pass(cluster);
    expect(versions(cluster)).toEqual(['9.1']);
    expect(countKeptSlots(cluster)).toBe(SLOT_COUNT);
    expect(cluster.cluster.spec).toEqual(written);
    expect(upgrade.status).toMatchObject({ phase: 'Succeeded', shardsDone: 3 });
    expect(upgrade.status?.shards).toMatchObject([{ step: 'Done', to: '9.1' }, { step: 'Done' }, { step: 'Done' }]);
  });

  it('tells of each shard how far it is', () => {
    const cluster = bear(old);
    const upgrade = askFor(cluster, 'to-nine', { targetVersion: '9.1' });
    const seen = new Set<string>();
    pass(cluster, 60, () => {
      for (const { step } of upgrade.status?.shards ?? []) seen.add(step);
    });
    expect([...seen]).toEqual(expect.arrayContaining(['Waiting', 'FailingOver', 'UpgradingPrimary', 'Done']));
  });

  it.each([
    [{ targetVersion: '9.1' }, '9.1'],
    [{ image: { name: 'docker.io/valkey/valkey', tag: '9.1' } }, 'docker.io/valkey/valkey:9.1'],
    [{ image: { tag: '9.1' } }, '9.1'],
  ])('to %j says in a word where to', (spec, word) => {
    const cluster = bear(old);
    const upgrade = askFor(cluster, 'up', spec);
    pass(cluster, 1);
    expect(upgrade.status?.target).toBe(word);
  });

  it('keeps its effect when it is deleted afterwards, until another image is written', () => {
    const cluster = bear(old);
    askFor(cluster, 'to-nine', { targetVersion: '9.1' });
    pass(cluster);
    cluster.upgrades.length = 0;
    pass(cluster);
    expect(versions(cluster)).toEqual(['9.1']);
    cluster.change({ valkeyImage: image('9.2') });
    pass(cluster);
    expect(versions(cluster)).toEqual(['9.2']);
  });

  it('that is made anew under its name is another one', () => {
    const cluster = bear(old);
    const again = (targetVersion: string) => {
      cluster.upgrades.length = 0;
      const upgrade = askFor(cluster, 'up', { targetVersion });
      pass(cluster);
      return { phase: upgrade.status?.phase, versions: versions(cluster) };
    };
    expect(again('8.1')).toEqual({ phase: 'Succeeded', versions: ['8.1'] });
    expect(again('9.1')).toEqual({ phase: 'Succeeded', versions: ['9.1'] });
    // The same wish once more, as who applies a whole folder anew has it.
    expect(again('9.1')).toEqual({ phase: 'Succeeded', versions: ['9.1'] });
  });

  it('that is made anew after it was cancelled is not cancelled too', () => {
    const cluster = bear(old);
    askFor(cluster, 'up', { targetVersion: '8.1' });
    pass(cluster, 6);
    cluster.annotate('cancel');
    pass(cluster);
    expect(versions(cluster)).toEqual(['8.0']);
    cluster.upgrades.length = 0;
    askFor(cluster, 'up', { targetVersion: '9.1' });
    pass(cluster);
    expect(versions(cluster)).toEqual(['9.1']);
  });

  it('that an operator before this one has begun goes on', () => {
    const cluster = bear(old);
    const upgrade = askFor(cluster, 'up', { targetVersion: '9.1' });
    pass(cluster, 6);
    const key = `ValkeyClusterStatus/${cluster.names.status}`;
    const detail = cluster.children.get(key)!;
    const { upgraded, ...status } = detail['status'] as { upgraded: Record<string, string> };
    const { uid: _, ...known } = upgraded;
    cluster.children.set(key, { ...detail, status: { ...status, upgraded: known } });
    pass(cluster);
    expect(upgrade.status?.phase).toBe('Succeeded');
    expect(versions(cluster)).toEqual(['9.1']);
  });

  it('waits for the one before it', () => {
    const cluster = bear(old);
    const first = askFor(cluster, 'a', { targetVersion: '8.1' });
    const second = askFor(cluster, 'b', { targetVersion: '9.1' });
    pass(cluster, 5);
    expect(second.status?.phase).toBe('Queued');
    expect(complete(second)?.message).toBe('Waits until a is over.');
    pass(cluster);
    expect([first.status?.phase, second.status?.phase]).toEqual(['Succeeded', 'Succeeded']);
    expect(versions(cluster)).toEqual(['9.1']);
  });

  it.each([
    ['is not newer', { targetVersion: '7.2' }, /not newer than 8.0.2/],
    ['is what runs', { image: { name: 'docker.io/valkey/valkey', tag: '8.0' } }, /runs .*:8.0 already/],
  ])('whose target %s fails and touches nothing', (_, spec, message) => {
    const cluster = bear(old);
    const before = cluster.pods.map(({ uid }) => uid);
    const upgrade = askFor(cluster, 'bad', spec);
    pass(cluster, 10);
    expect(upgrade.status?.phase).toBe('Failed');
    expect(complete(upgrade)).toMatchObject({ reason: 'UpgradeRefused', message: expect.stringMatching(message) });
    expect(cluster.pods.map(({ uid }) => uid)).toEqual(before);
  });

  it.each([
    ['before a pod was replaced, has failed', false, 'Failed'],
    ['by a node that gets a pod of it goes back', true, 'RolledBack'],
  ])('whose image cannot be pulled, %s, and the next one can begin', (_, blind, phase) => {
    const cluster = bear(old);
    cluster.imageTrials.blind = blind;
    askFor(cluster, 'a', { targetVersion: '8.1' });
    pass(cluster);
    cluster.brokenImages.add('docker.io/valkey/valkey:9.9');
    const bad = askFor(cluster, 'b', { targetVersion: '9.9' });
    pass(cluster, 120);
    expect(bad.status?.phase).toBe(phase);
    expect(versions(cluster)).toEqual(['8.1']);
    askFor(cluster, 'c', { targetVersion: '9.1' });
    pass(cluster);
    expect(versions(cluster)).toEqual(['9.1']);
  });

  it('that shall not roll back holds at the pod that fails', () => {
    const cluster = bear(old);
    cluster.imageTrials.blind = true;
    cluster.brokenImages.add('docker.io/valkey/valkey:9.9');
    const bad = askFor(cluster, 'bad', { targetVersion: '9.9', rollbackOnFailure: false });
    pass(cluster, 120);
    expect(bad.status?.phase).toBe('Running');
    expect(complete(bad)).toMatchObject({
      reason: 'RollHalted',
      message: expect.stringMatching(/Held at pod demo-\d/),
    });
    expect(cluster.pods.filter(({ broken }) => broken)).toHaveLength(1);
  });

  it('goes on under its phase though a later one of the same second comes before it by name', () => {
    const cluster = bear(old);
    const first = askFor(cluster, 'z', { targetVersion: '8.1' });
    pass(cluster, 5);
    const second = askFor(cluster, 'a', { targetVersion: '9.1' });
    second.metadata.creationTimestamp = first.metadata.creationTimestamp;
    pass(cluster, 1);
    expect([first.status?.phase, second.status?.phase]).toEqual(['Running', 'Queued']);
    pass(cluster);
    expect([first.status?.phase, second.status?.phase]).toEqual(['Succeeded', 'Succeeded']);
  });

  it('waits until what is being changed has ended', () => {
    const cluster = bear(old);
    cluster.change({ config: { hz: '20' } });
    pass(cluster, 1);
    const upgrade = askFor(cluster, 'up', { targetVersion: '9.1' });
    pass(cluster, 1);
    expect(complete(upgrade)?.message).toBe('Waits until the cluster is well: The cluster is being changed.');
    pass(cluster);
    expect(upgrade.status?.phase).toBe('Succeeded');
  });

  it('says what it waits for while the cluster is paused or no window is open', () => {
    const cluster = bear({ spec: { ...old.spec, maintenanceWindows: [{ cron: '0 4 * * *', duration: '1m' }] } });
    const upgrade = askFor(cluster, 'up', { targetVersion: '9.1' });
    pass(cluster, 3);
    expect(complete(upgrade)?.message).toContain('Waiting for the maintenance window');
    cluster.annotate('paused');
    pass(cluster, 1);
    expect(complete(upgrade)?.reason).toBe('Paused');
  });

  it('on its way back tells which shards are back, and when it has ended why it went', () => {
    const cluster = bear(old);
    const upgrade = askFor(cluster, 'up', { targetVersion: '9.1' });
    for (let second = 0; second < 60 && upgrade.status?.shardsDone !== 1; second += 1) pass(cluster, 1);
    cluster.annotate('cancel');
    const steps = () => (upgrade.status?.shards ?? []).map(({ step }) => step);
    const seen: string[] = [];
    pass(cluster, 60, () => upgrade.status?.phase === 'RollingBack' && seen.push(steps().join()));
    expect(seen[0]?.split(',').toSorted()).toEqual(['Done', 'RolledBack', 'RolledBack']);
    expect(upgrade.status).toMatchObject({ phase: 'RolledBack', shardsDone: 0 });
    expect(steps()).toEqual(['RolledBack', 'RolledBack', 'RolledBack']);
    expect(complete(upgrade)?.message).toBe('Goes back: it was cancelled. Now: Every pod is of the image before.');
  });

  it('that is going back when another image is written has failed, for that one counts', () => {
    const cluster = bear(old);
    const upgrade = askFor(cluster, 'up', { targetVersion: '9.1' });
    pass(cluster, 10);
    cluster.annotate('cancel');
    pass(cluster, 2);
    expect(upgrade.status?.phase).toBe('RollingBack');
    cluster.change({ valkeyImage: image('8.1'), allowDowngrade: true });
    pass(cluster);
    expect(upgrade.status?.phase).toBe('Failed');
    expect(versions(cluster)).toEqual(['8.1']);
  });

  it('that has reached its target succeeds, though something is cancelled or resources change just then', () => {
    const cluster = bear(old);
    const upgrade = askFor(cluster, 'up', { targetVersion: '9.1' });
    const isReached = () => versions(cluster).join() === '9.1' && cluster.cluster.status?.orchestration === undefined;
    for (let second = 0; second < 60 && !isReached(); second += 1) {
      cluster.reconcile(checkPlan(cluster));
      if (!isReached()) cluster.tick();
    }
    cluster.change({ resources: { requests: { memory: '1Gi' }, limits: { memory: '1Gi' } } });
    cluster.annotate('cancel');
    pass(cluster, 3);
    expect(upgrade.status?.phase).toBe('Succeeded');
    pass(cluster);
    expect(versions(cluster)).toEqual(['9.1']);
  });

  it('that is deleted while its image is proven leaves none behind that nobody can have', () => {
    const cluster = bear(old);
    cluster.brokenImages.add('docker.io/valkey/valkey:9.9');
    askFor(cluster, 'slip', { targetVersion: '9.9' });
    pass(cluster, 3);
    cluster.upgrades.length = 0;
    pass(cluster, 80);
    expect(cluster.cluster.status?.pendingOrchestrations ?? []).toEqual([]);
    expect(cluster.cluster.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Degraded', status: 'False' }),
    );
    const next = askFor(cluster, 'up', { targetVersion: '9.1' });
    pass(cluster);
    expect(next.status?.phase).toBe('Succeeded');
  });

  it('gives way to an image that is written meanwhile', () => {
    const cluster = bear(old);
    const upgrade = askFor(cluster, 'to-nine', { targetVersion: '9.1' });
    pass(cluster, 6);
    cluster.change({ valkeyImage: image('8.1') });
    pass(cluster);
    expect(versions(cluster)).toEqual(['8.1']);
    expect(upgrade.status?.phase).toBe('Failed');
  });
});
