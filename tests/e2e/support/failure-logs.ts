import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Lab, listLabs } from '@valkey-operator/lab';

/** Where `.ci/run` and people look after a failed test; one folder per test. */
export const FAILURES = join(import.meta.dirname, '../../../.lab/failures');
const LINES = 200;

/** Keep what the components and our own pods of every lab said last: the lab itself is about to be removed. */
export async function saveFailureLogs(test: string): Promise<void> {
  const dir = join(FAILURES, test.replace(/[^A-Za-z0-9]+/g, '-').slice(0, 100));
  mkdirSync(dir, { recursive: true });
  // A lab may go while it is being asked: what the others say is kept all the same.
  await Promise.allSettled(listLabs().map((name) => saveLogsOf(name, dir)));
}

async function saveLogsOf(name: string, dir: string): Promise<void> {
  const lab = Lab.open(name);
  for (const { name: component } of lab.components()) {
    const file = `${name}-${component.replace('/', '-')}.log`;
    writeFileSync(join(dir, file), lab.logs(component, LINES).join('\n'));
  }
  for (const [file, args] of Object.entries(questions)) {
    const { stdout, stderr } = await lab.kubectl([...args, '--request-timeout=10s'], { allowFailure: true });
    writeFileSync(join(dir, `${name}-${file}.log`), stdout || stderr);
  }
  await saveValkeyLogs(lab, dir);
}

/** Sidecar and Valkey of every pod, in whatever namespace the test has them. */
async function saveValkeyLogs(lab: Lab, dir: string): Promise<void> {
  const path = 'jsonpath={range .items[*]}{.metadata.namespace} {.metadata.name}{"\\n"}{end}';
  const pods = ['get', 'pods', '--all-namespaces', '-l', 'app.kubernetes.io/component=valkey', '-o', path];
  const { stdout } = await lab.kubectl(pods, { allowFailure: true });
  for (const line of stdout.trim().split('\n').filter(Boolean)) {
    const [namespace = '', pod = ''] = line.split(' ');
    const ask = ['-n', namespace, 'logs', pod, '--all-containers', '--prefix', `--tail=${LINES}`];
    const said = await lab.kubectl([...ask, '--request-timeout=10s'], { allowFailure: true });
    writeFileSync(join(dir, `${lab.name}-${namespace}-${pod}.log`), said.stdout || said.stderr);
  }
}

const questions: Record<string, string[]> = {
  operator: [
    '-n',
    'valkey-system',
    'logs',
    '-l',
    'app.kubernetes.io/name=valkey-operator',
    `--tail=${LINES}`,
    '--prefix',
  ],
  clusters: ['get', 'valkeyclusters', '--all-namespaces', '-o', 'yaml'],
  pods: ['get', 'pods', '--all-namespaces', '-o', 'wide'],
  events: ['get', 'events', '--all-namespaces', '--sort-by=.lastTimestamp'],
};
