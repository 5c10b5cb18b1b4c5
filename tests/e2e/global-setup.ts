import { rmSync } from 'node:fs';
import { consoleProgress, createLab, installOperator, removeLab } from '@valkey-operator/lab';
import type { TestProject } from 'vitest/node';
import { FAILURES } from './support/failure-logs.ts';

declare module 'vitest' {
  interface ProvidedContext {
    lab: string;
  }
}

const NAME = 'e2e';

/**
 * One lab of three nodes with the operator for all files that do not break it; those that do make their own. With E2E_LAB
 * the tests run on the lab of that name, which is made if need be and stays: for whoever writes one.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  rmSync(FAILURES, { recursive: true, force: true });
  const kept = process.env.E2E_LAB;
  const name = kept ?? NAME;
  if (!kept) await removeLab(name);
  const lab = await createLab({ name, nodes: 3, progress: consoleProgress() });
  await installOperator(lab, consoleProgress());
  project.provide('lab', name);
  return async () => {
    if (!kept) await removeLab(name);
  };
}
