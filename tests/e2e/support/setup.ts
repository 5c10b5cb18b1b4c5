import { delimiter } from 'node:path';
import { Lab } from '@valkey-operator/lab';
import { beforeEach, inject } from 'vitest';
import { saveFailureLogs } from './failure-logs.ts';

/** Every test file speaks to the shared lab with plain `kubectl`, as a person would. */
const lab = Lab.open(inject('lab'));
process.env.KUBECONFIG = lab.kubeconfig;
process.env.PATH = [lab.binaries, process.env.PATH].join(delimiter);

beforeEach(({ onTestFailed }) => {
  onTestFailed(({ task }) => saveFailureLogs(task.name));
});
