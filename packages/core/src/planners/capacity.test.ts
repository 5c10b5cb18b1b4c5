import { describe, expect, it } from 'vitest';
import { checkPlan } from '../testing/check-plan.ts';
import { bear, condition, settle } from '../testing/settle.ts';

const MAX = 100_000_000;

describe('fewer shards', () => {
  it('are refused when one that stays is too full for what it would get, whatever room the others have', () => {
    const cluster = bear({ shards: 4, usedBytes: 40_000_000, maxBytes: MAX });
    const [full] = cluster.primaries;
    cluster.memory.note(full!.ordinal, { usedBytes: 95_000_000, maxBytes: MAX });
    cluster.change({ masterCount: 3 });
    const plan = settle(cluster, 30);
    expect(plan.stages).toEqual([]);
    expect(cluster.primaries).toHaveLength(4);
    expect(condition(plan, 'Progressing')).toMatchObject({
      reason: 'DataDoesNotFit',
      message: expect.stringContaining(
        `into 3 shards: 205 MiB are in use, and ${full!.name}, which keeps its 91 MiB, would need 103 MiB and has a maxmemory of 95 MiB`,
      ) as string,
    });
    cluster.memory.limit(full!.ordinal, 2 * MAX);
    expect(condition(settle(cluster), 'Ready')).toMatchObject({ status: 'True' });
    expect(cluster.primaries).toHaveLength(3);
  });

  it('are not refused half way because a node that has given its slots away does not use less at once', () => {
    const cluster = bear({ shards: 5, usedBytes: 55_000_000, maxBytes: MAX });
    cluster.change({ masterCount: 3 });
    const reasons = new Set<string | undefined>();
    for (let round = 0; round < 60; round += 1) {
      reasons.add(condition(cluster.reconcile(checkPlan(cluster)), 'Progressing').reason);
      cluster.tick();
    }
    expect(reasons).not.toContain('DataDoesNotFit');
    expect(cluster.primaries).toHaveLength(3);
  });
});
