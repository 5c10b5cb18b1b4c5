import { describe, expect, it } from 'vitest';
import { compareChild } from './drift.ts';
import { SimulatedCluster } from './simulation/simulated-cluster.ts';
import type { ChildObject, ClusterSnapshot } from './snapshot.ts';

const budget = (minAvailable: string): ChildObject => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'demo' },
  spec: { minAvailable },
});

const blank = new SimulatedCluster().snapshot();

/** As the API server has it after it was written. */
function written(wish: ChildObject): ChildObject {
  const { apply } = compareChild(wish, blank);
  return apply!.object;
}

function seen(child: ChildObject, rest: Partial<ClusterSnapshot> = {}): ClusterSnapshot {
  return { ...blank, children: [child], ...rest };
}

const wish = budget('100%');
const tampered = { ...written(wish), spec: { minAvailable: '0%' } };

describe('a child', () => {
  it('that is as it was written is left alone', () => {
    expect(compareChild(wish, seen(written(wish)))).toEqual({});
  });

  it('that is wished otherwise now is written, and nobody is blamed', () => {
    const { apply, drift } = compareChild(budget('50%'), seen(written(wish)));
    expect(apply?.object['spec']).toEqual({ minAvailable: '50%' });
    expect([apply?.drift, drift]).toEqual([undefined, undefined]);
  });

  it('that somebody else has changed is put back, and the change is told', () => {
    const { apply, drift } = compareChild(wish, seen(tampered));
    expect(apply?.object['spec']).toEqual({ minAvailable: '100%' });
    expect(drift).toEqual({ message: 'PodDisruptionBudget demo: spec.minAvailable is "0%", should be "100%"' });
  });

  it('that has lost its digest was changed by somebody else', () => {
    const bare = { ...tampered, metadata: { name: 'demo' } };
    expect(compareChild(wish, seen(bare)).drift?.message).toContain('metadata.annotations is missing');
  });
});

describe('a child that is changed again and again', () => {
  const fought = (count: number, agoMs: number) =>
    compareChild(
      wish,
      seen(tampered, { repairs: [{ child: 'PodDisruptionBudget demo', count, lastAt: blank.now - agoMs }] }),
    );

  it('is put back at once at first', () => {
    expect(fought(2, 0).apply).toBeDefined();
  });

  it.each([
    [3, 9_000, 1_000],
    [4, 9_000, 11_000],
    [20, 0, 300_000],
  ])('is held after %i repairs, the last %i ms ago, for %i ms', (count, agoMs, heldMs) => {
    const { apply, drift } = fought(count, agoMs);
    expect(apply).toBeUndefined();
    expect(drift).toMatchObject({ heldMs, message: expect.stringContaining(`put back ${count} times`) });
  });

  it('is put back when the hold is over', () => {
    expect(fought(3, 10_000).apply).toBeDefined();
  });
});
