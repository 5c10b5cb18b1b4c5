import type { ValkeyUpgrade } from '@valkey-operator/api';
import { describe, expect, it } from 'vitest';
import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import { bear } from '../testing/settle.ts';
import { askFor, pass, versions } from '../testing/upgrades.ts';

const image = (tag: string) => ({ name: 'docker.io/valkey/valkey', tag, pullPolicy: 'IfNotPresent' }) as const;
const written = { valkeyImage: image('9.1') };

/** A cluster of 8.0, which may not be able to get 9.1. */
function bearOld({ isBroken = false } = {}): SimulatedCluster {
  const cluster = bear({ spec: { valkeyImage: image('8.0') } });
  if (isBroken) cluster.brokenImages.add('docker.io/valkey/valkey:9.1');
  // What is said here of pods that fail is about those for which nobody had foreseen it.
  cluster.imageTrials.blind = true;
  return cluster;
}

function tell({ status }: ValkeyUpgrade): string {
  return `${status?.phase}: ${status?.conditions?.[0]?.message}`;
}

describe('a ValkeyUpgrade to what the spec asks for', () => {
  it('waits while the pods are on their way there, and then says that it runs', () => {
    const cluster = bearOld();
    cluster.change(written);
    pass(cluster, 6);
    expect(versions(cluster)).toEqual(['8.0', '9.1']);
    const upgrade = askFor(cluster, 'up', { targetVersion: '9.1' });
    const seen = new Set<string | undefined>();
    pass(cluster, 100, () => seen.add(upgrade.status?.phase));
    expect([...seen]).toEqual(['Queued', 'Failed']);
    expect(tell(upgrade)).toBe('Failed: The cluster runs docker.io/valkey/valkey:9.1 already.');
    expect(versions(cluster)).toEqual(['9.1']);
  });

  it('waits too while pods come back from another one', () => {
    const cluster = bearOld();
    cluster.change(written);
    pass(cluster, 6);
    cluster.change({ valkeyImage: image('8.0') });
    const upgrade = askFor(cluster, 'up', { targetVersion: '8.0' });
    pass(cluster, 1);
    expect(upgrade.status?.phase).toBe('Queued');
    pass(cluster);
    expect(tell(upgrade)).toBe('Failed: The cluster runs docker.io/valkey/valkey:8.0 already.');
  });

  it('says that it failed there, and how to try it again', () => {
    const cluster = bearOld({ isBroken: true });
    cluster.change(written);
    pass(cluster, 150);
    expect(versions(cluster)).toEqual(['8.0']);
    const upgrade = askFor(cluster, 'up', { targetVersion: '9.1' });
    pass(cluster, 2);
    expect(tell(upgrade)).toMatch(/^Failed: spec.valkeyImage .* asks for .*:9.1 already, .* failed: .*restart-at/);
  });

  it('says that it was cancelled there', () => {
    const cluster = bearOld();
    cluster.change(written);
    pass(cluster, 6);
    cluster.annotate('cancel');
    pass(cluster);
    expect(versions(cluster)).toEqual(['8.0']);
    const upgrade = askFor(cluster, 'up', { targetVersion: '9.1' });
    pass(cluster, 2);
    expect(tell(upgrade)).toMatch(/^Failed: spec.valkeyImage .* asks for .*:9.1 already, and that was cancelled/);
  });

  it('says why it is not rolled out there', () => {
    const cluster = bearOld();
    cluster.change({ valkeyImage: image('newest') });
    pass(cluster, 3);
    const upgrade = askFor(cluster, 'up', { image: { name: 'docker.io/valkey/valkey', tag: 'newest' } });
    pass(cluster, 2);
    expect(tell(upgrade)).toMatch(/^Failed: spec.valkeyImage.tag is "newest", which does not begin with a version/);
  });
});

describe('a ValkeyUpgrade whose target is written into the spec on the way', () => {
  it('goes on, and succeeds when every pod is there', () => {
    const cluster = bearOld();
    const upgrade = askFor(cluster, 'up', { targetVersion: '9.1' });
    pass(cluster, 10);
    cluster.change(written);
    const seen = new Set<string | undefined>();
    pass(cluster, 100, () => seen.add(upgrade.status?.phase));
    expect([...seen]).toEqual(['Running', 'Succeeded']);
    expect(upgrade.status).toMatchObject({ shardsDone: 3, insteadOf: 'docker.io/valkey/valkey:8.0' });
    expect(versions(cluster)).toEqual(['9.1']);
  });

  it.each([
    ['a pod fails', (cluster: SimulatedCluster) => cluster.brokenImages.add('docker.io/valkey/valkey:9.1'), /demo-\d/],
    ['it is cancelled', (cluster: SimulatedCluster) => cluster.annotate('cancel'), /it was cancelled/],
  ])('goes back when %s, and says so', (_, spoil, why) => {
    const cluster = bearOld();
    const upgrade = askFor(cluster, 'up', { targetVersion: '9.1' });
    pass(cluster, 8);
    expect(upgrade.status?.phase).toBe('Running');
    cluster.change(written);
    pass(cluster, 1);
    spoil(cluster);
    const seen = new Set<string | undefined>();
    pass(cluster, 200, () => seen.add(upgrade.status?.phase));
    expect([...seen].slice(-2)).toEqual(['RollingBack', 'RolledBack']);
    expect(tell(upgrade)).toMatch(/^RolledBack: Goes back: .* Now: Every pod is of the image before[.]$/);
    expect(tell(upgrade)).toMatch(why);
    expect(versions(cluster)).toEqual(['8.0']);
  });
});
