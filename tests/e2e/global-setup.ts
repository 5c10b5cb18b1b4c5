import { rmSync } from 'node:fs';
import { consoleProgress, createLab, removeLab } from '@valkey-operator/lab';
import type { TestProject } from 'vitest/node';
import { FAILURES } from './support/failure-logs.ts';

declare module 'vitest' {
  interface ProvidedContext {
    lab: string;
  }
}

const NAME = 'e2e';

/** One lab of three nodes for all files that do not break it; those that do make their own. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  rmSync(FAILURES, { recursive: true, force: true });
  await removeLab(NAME);
  await createLab({ name: NAME, nodes: 3, progress: consoleProgress() });
  project.provide('lab', NAME);
  return () => removeLab(NAME);
}
