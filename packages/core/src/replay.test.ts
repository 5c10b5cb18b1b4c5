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

/** Without the children, which change with what we build (a golden test watches that); through JSON, as recordings went. */
function decisionsOf(stages: Plan['stages']): unknown {
  const decided = stages.map((stage) => stage.filter(({ type }) => type !== 'ApplyChild'));
  return JSON.parse(JSON.stringify(decided.filter((stage) => stage.length > 0)));
}

describe('what was decided on a real cluster', () => {
  const names = readdirSync(dir).map((file) => file.replace(/\.json$/, ''));

  it.each(names)('is decided again from its recording: %s', (name) => {
    const { snapshot, stages } = read(name);
    expect(decisionsOf(planCluster(snapshot).stages)).toEqual(decisionsOf(stages));
  });

  it('tells a handover from a failover', () => {
    const reasons = (name: string) => planCluster(read(name).snapshot).events.map(({ reason }) => reason);
    expect(reasons('a-primary-has-handed-over')).toContain('PrimaryHandedOver');
    expect(reasons('a-killed-primary-was-replaced')).toContain('FailedOver');
    expect(reasons('a-new-pod-waits-for-its-shard')).not.toContain('FailedOver');
  });
});
