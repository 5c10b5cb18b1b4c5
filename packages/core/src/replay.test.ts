import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Plan } from './actions.ts';
import { planCluster } from './plan.ts';
import type { ClusterSnapshot } from './snapshot.ts';

/** Situations of a real cluster in a lab, saved by the operator's --record-dir. */
const dir = join(import.meta.dirname, 'testdata', 'recorded');

function read(name: string): { snapshot: ClusterSnapshot; stages: Plan['stages'] } {
  return JSON.parse(readFileSync(join(dir, `${name}.json`), 'utf8')) as ReturnType<typeof read>;
}

describe('what was decided on a real cluster', () => {
  const names = readdirSync(dir).map((file) => file.replace(/\.json$/, ''));

  it.each(names)('is decided again from its recording: %s', (name) => {
    const { snapshot, stages } = read(name);
    // Through JSON, as the recording went: what is undefined is not there.
    expect(JSON.parse(JSON.stringify(planCluster(snapshot).stages))).toEqual(stages);
  });

  it('tells a handover from a failover', () => {
    const reasons = (name: string) => planCluster(read(name).snapshot).events.map(({ reason }) => reason);
    expect(reasons('a-primary-has-handed-over')).toContain('PrimaryHandedOver');
    expect(reasons('a-killed-primary-was-replaced')).toContain('FailedOver');
    expect(reasons('a-new-pod-waits-for-its-shard')).not.toContain('FailedOver');
  });
});
