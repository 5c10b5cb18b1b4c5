import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { aPlan, aSnapshot } from '../testing/plans.ts';
import { createSnapshotRecorder } from './snapshot-recorder.ts';

test('a recorder saves what was seen and decided, when something was to be done', () => {
  const dir = mkdtempSync(join(tmpdir(), 'snapshots-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const recorder = createSnapshotRecorder(join(dir, 'new'));
  const snapshot = aSnapshot();
  recorder.record(snapshot, aPlan());
  recorder.record(snapshot, aPlan([[{ type: 'AddFinalizer' }]]));
  expect(readdirSync(join(dir, 'new'))).toEqual(['apps-demo-00001.json']);
  const saved = JSON.parse(readFileSync(join(dir, 'new/apps-demo-00001.json'), 'utf8'));
  expect(saved).toEqual(JSON.parse(JSON.stringify({ snapshot, stages: [[{ type: 'AddFinalizer' }]] })));
});
