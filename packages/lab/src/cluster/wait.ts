import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LabError } from '../errors.ts';
import type { Step } from '../progress.ts';
import { apiServerUrl } from './control-plane.ts';
import type { Lab } from './lab.ts';

interface Condition {
  type: string;
  status: string;
  message?: string;
}

interface NodeList {
  items: { metadata: { name: string }; status: { conditions?: Condition[] } }[];
}

export async function waitForApiServer(lab: Lab, signal?: AbortSignal): Promise<void> {
  const ca = readFileSync(join(lab.layout.dir, 'pki', 'ca.crt'));
  const ready = () =>
    new Promise<boolean>((resolve) => {
      request(`${apiServerUrl(lab.layout)}/readyz`, { ca, timeout: 1000 }, (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      })
        .on('error', () => resolve(false))
        .on('timeout', function (this: { destroy(): void }) {
          this.destroy();
        })
        .end();
    });
  await until(lab, 'the API server', 60_000, 50, ready, signal);
}

export async function waitForNodes(lab: Lab, count: number, step: Step, signal?: AbortSignal): Promise<void> {
  await until(
    lab,
    `${count} Ready nodes`,
    90_000,
    150,
    async () => {
      const { items } = await lab.kubectlJson<NodeList>(['get', 'nodes']);
      const ready = items.filter((node) => conditionOf(node.status.conditions, 'Ready')?.status === 'True');
      const waiting = items.find((node) => !ready.includes(node));
      const why = waiting && conditionOf(waiting.status.conditions, 'Ready')?.message;
      step.note(`${ready.length}/${count} Ready${why ? `; ${waiting.metadata.name}: ${why}` : ''}`);
      return ready.length >= count;
    },
    signal,
  );
}

export async function waitForDns(lab: Lab, step: Step, signal?: AbortSignal): Promise<void> {
  await until(
    lab,
    'CoreDNS',
    60_000,
    150,
    async () => {
      const deployment = await lab.kubectlJson<{ status: { readyReplicas?: number; conditions?: Condition[] } }>([
        ...['get', 'deployment', 'coredns', '-n', 'kube-system'],
      ]);
      const ready = (deployment.status.readyReplicas ?? 0) > 0;
      step.note(ready ? '' : (conditionOf(deployment.status.conditions, 'Available')?.message ?? ''));
      return ready;
    },
    signal,
  );
}

function conditionOf(conditions: Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** Poll until true. A component that dies meanwhile ends the wait at once: waiting longer would not help. */
async function until(
  lab: Lab,
  what: string,
  timeoutMs: number,
  intervalMs: number,
  check: () => Promise<boolean>,
  signal?: AbortSignal,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await check().catch(() => false))) {
    signal?.throwIfAborted();
    const dead = lab.components().find(({ state }) => state === 'stopped');
    if (dead) throw new LabError('ComponentFailed', `${dead.name} of lab "${lab.name}" has ended`, `see ${dead.log}`);
    if (Date.now() > deadline) {
      throw new LabError('Timeout', `lab "${lab.name}" waited ${timeoutMs / 1000} s for ${what}`, `see the logs in ${lab.layout.dir}`);
    }
    await sleep(intervalMs);
  }
}
