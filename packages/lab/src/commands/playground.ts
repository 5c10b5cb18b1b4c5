import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { parseNodeCount } from '../cluster/layout.ts';
import { removeLab } from '../cluster/remove-lab.ts';
import { LabError } from '../errors.ts';
import { abortOnInterrupt } from '../interrupt.ts';
import { startPlayground, type Playground } from '../playground.ts';
import { consoleProgress, seconds } from '../progress.ts';
import { jsonOption, nodesOption, playgroundNameOption, type Command } from './command.ts';

const VALKEY_VERSIONS = ['8.0', '8.1', '9.1'];

const TRY: [command: string, effect: string][] = [
  ['kubectl get vc demo -w', 'watch it while you'],
  ['kubectl delete pod demo-0', 'take a pod away: a replica takes over first'],
  ['kubectl scale vc/demo --replicas=4', 'a fourth shard, and a quarter of the slots move to it'],
  ['kubectl exec demo-1 -c valkey -- valkey-cli -c set k v', 'write something'],
  ['kubectl describe vc demo', 'read what happened, and why'],
];
const TRY_WIDTH = Math.max(...TRY.map(([command]) => command.length));

export const playground: Command = {
  summary: 'a Kubernetes on this machine with the operator and a demo cluster; Ctrl-C removes it',
  options: {
    name: playgroundNameOption,
    nodes: nodesOption,
    valkey: {
      type: 'string',
      default: '9.1',
      value: 'VERSION',
      description: `Valkey of the demo cluster: ${VALKEY_VERSIONS.join(', ')}`,
    },
    context: {
      type: 'string',
      value: 'NAME',
      description: 'use this kubeconfig context instead of making a Kubernetes',
    },
    keep: { type: 'boolean', description: 'leave it running after Ctrl-C (make playground-down removes it)' },
    detach: { type: 'boolean', description: 'return when it is ready and leave it running' },
    json: jsonOption,
  },
  async run({ name, nodes, valkey, context, keep, detach, json }) {
    const version = String(valkey);
    if (!VALKEY_VERSIONS.includes(version)) {
      throw new LabError(
        'BadArgument',
        `--valkey ${version} must be one of ${VALKEY_VERSIONS.join(', ')}`,
        'pick one of them',
      );
    }
    const start = Date.now();
    const signal = abortOnInterrupt();
    const lab = String(name);
    const place = await startPlayground({
      name: lab,
      nodes: parseNodeCount(String(nodes)),
      valkey: version,
      ...(context ? { context: String(context) } : {}),
      progress: consoleProgress(),
      signal,
    });
    const stays = Boolean(detach || context);
    console.log(
      json ? JSON.stringify(place) : formatWelcome(place, { took: Date.now() - start, stays, keep: Boolean(keep) }),
    );
    if (stays) return;
    await interrupted(signal);
    process.exitCode = 0;
    if (keep) return console.error('\n  kept running; make playground-down removes it');
    console.error();
    await consoleProgress().step('Remove the playground', () => removeLab(lab));
  },
};

/** An AbortSignal alone does not keep the process alive while it waits. */
async function interrupted(signal: AbortSignal): Promise<void> {
  const alive = setInterval(() => {}, 2 ** 31 - 1);
  if (!signal.aborted) await once(signal, 'abort');
  clearInterval(alive);
}

function formatWelcome(
  { kubeconfig, context, kubectl }: Playground,
  { took, stays, keep }: { took: number; stays: boolean; keep: boolean },
): string {
  const rows: [string, string][] = [];
  if (kubeconfig) rows.push(['KUBECONFIG', `export KUBECONFIG=${kubeconfig}`]);
  if (context) rows.push(['Context', context]);
  if (!isOnPath(kubectl)) rows.push(['kubectl', `export PATH=$PATH:${dirname(kubectl)}`]);
  for (const [index, [command, effect]] of TRY.entries()) {
    rows.push([index === 0 ? 'Try' : '', `${command.padEnd(TRY_WIDTH)}  ${effect}`]);
  }
  if (!context) rows.push(['Stop', stays || keep ? 'make playground-down' : 'Ctrl-C, which removes everything again']);
  const lines = rows.map(([label, text]) => `  ${label.padEnd(12)}${text}`);
  return ['', `  Ready after ${seconds(took)}.`, '', ...lines, ''].join('\n');
}

function isOnPath(program: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((dir) => existsSync(join(dir, basename(program))));
}
