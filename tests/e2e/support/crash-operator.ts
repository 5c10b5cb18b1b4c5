import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { KubeClient } from '@valkey-operator/kube';
import type { Lab } from '@valkey-operator/lab';
import { expect, vi } from 'vitest';
import { OPERATOR_NAMESPACE, Operators } from './operators.ts';

const DEPLOYMENT = ['-n', OPERATOR_NAMESPACE, 'deployment/valkey-operator'];
const COMMAND = '/spec/template/spec/containers/0/command';
const POLL = { timeout: 120_000, interval: 250 };

/**
 * Starts the operator again as soon as it has ended. The kubelet would too, but it lets a container that ends again wait,
 * longer each time; and a process that is the first of its container cannot kill itself.
 */
const SUPERVISOR = `
  const { spawn } = require('node:child_process');
  let child, isOver = false;
  const run = () => {
    child = spawn(process.execPath, ['/app/main.cjs', '--crash-points'], { stdio: 'inherit' });
    child.on('exit', () => (isOver ? process.exit() : run()));
  };
  process.on('SIGTERM', () => { isOver = true; child.kill('SIGTERM'); });
  run();
`;

export interface PointLine {
  /** Whether the process got beyond the write or command, or ended there. */
  readonly event: 'passed' | 'crash';
  readonly point: string;
  readonly moment?: 'before' | 'after';
}

/** An operator that ends itself where it is told to, and is started again at once. */
export class CrashOperator {
  readonly #lab: Lab;
  readonly #operators: Operators;
  #logs: ChildProcess | undefined;

  constructor(lab: Lab, client: KubeClient) {
    this.#lab = lab;
    this.#operators = new Operators(lab, client);
  }

  async arm(): Promise<void> {
    await this.#patch([{ op: 'add', path: COMMAND, value: ['/usr/local/bin/node', '-e', SUPERVISOR] }]);
  }

  /** From now on every point that is passed or ends it is told. Anew for each run: a stream that lasts long may fall silent. */
  async follow(onLine: (line: PointLine) => void): Promise<void> {
    const begin = new Date().toISOString();
    const since = `--since-time=${begin}`;
    const { pod } = await this.#operators.leader();
    this.unfollow();
    this.#logs = spawn(join(this.#lab.binaries, 'kubectl'), ['-n', OPERATOR_NAMESPACE, 'logs', '-f', since, pod], {
      env: { ...process.env, KUBECONFIG: this.#lab.kubeconfig },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    createInterface({ input: this.#logs.stdout! }).on('line', (text) => {
      const line = readLine(text, begin);
      if (line) onLine(line);
    });
  }

  unfollow(): void {
    this.#logs?.kill();
    this.#logs = undefined;
  }

  async disarm(): Promise<void> {
    this.unfollow();
    await this.#patch([{ op: 'remove', path: COMMAND }]);
  }

  async #patch(operations: readonly object[]): Promise<void> {
    await this.#lab.kubectl(['patch', ...DEPLOYMENT, '--type=json', '-p', JSON.stringify(operations)]);
    await this.#lab.kubectl(['rollout', 'status', ...DEPLOYMENT, '--timeout=120s']);
    await vi.waitFor(async () => {
      const names = (await this.#operators.list()).map(({ metadata }) => metadata.name);
      expect(names).toEqual([(await this.#operators.leader()).pod]);
    }, POLL);
  }
}

/** Kubernetes takes times by whole seconds, and what was before is of another run. */
function readLine(text: string, begin: string): PointLine | undefined {
  const { time, msg, point, moment } = JSON.parse(text) as { time: string; msg: string } & Omit<PointLine, 'event'>;
  if (time < begin) return undefined;
  if (msg === 'point passed') return { event: 'passed', point };
  return msg === 'crash point' ? { event: 'crash', point, ...(moment && { moment }) } : undefined;
}
