import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClusterSnapshot, Plan } from '@valkey-operator/core';

export interface SnapshotRecorder {
  record(snapshot: ClusterSnapshot, plan: Plan): void;
}

export const noRecorder: SnapshotRecorder = { record() {} };

/** Saves what was seen and decided, whenever something was to be done: the planner's tests replay it. */
export function createSnapshotRecorder(dir: string): SnapshotRecorder {
  mkdirSync(dir, { recursive: true });
  let count = 0;
  return {
    record(snapshot, plan) {
      if (plan.stages.length === 0) return;
      const { namespace, name } = snapshot.cluster.metadata;
      const file = `${namespace}-${name}-${String(++count).padStart(5, '0')}.json`;
      writeFileSync(join(dir, file), JSON.stringify({ snapshot, stages: plan.stages }, null, 1));
    },
  };
}
