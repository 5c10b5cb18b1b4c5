import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { nodes as nodeResource, pods } from '@valkey-operator/kube';
import { LabError } from '../errors.ts';
import type { Step } from '../progress.ts';
import { DNS_LABEL } from './addons.ts';
import type { Lab } from './lab.ts';
import type { NodeLayout } from './layout.ts';

const POLL_MS = 100;
const CALL_MS = 5000;

export async function waitForApiServer(lab: Lab, signal?: AbortSignal): Promise<void> {
  const { transport } = await lab.api();
  const isReady = async () => {
    const { status, body } = await transport({ method: 'GET', path: '/readyz', signal: AbortSignal.timeout(CALL_MS) });
    await text(body); // to its end, so that the connection can be used again
    return status === 200;
  };
  const needs = ['etcd', 'kube-apiserver'];
  await until(lab, { what: 'the API server', timeoutMs: 60_000, needs, signal }, isReady);
}

export async function waitForNodes(
  lab: Lab,
  wanted: readonly NodeLayout[],
  step: Step,
  signal?: AbortSignal,
): Promise<void> {
  const { client } = await lab.api();
  const what = `Ready ${wanted.map(({ name }) => name).join(', ')}`;
  await until(lab, { what, timeoutMs: 90_000, signal }, async () => {
    const { items } = await client.list(nodeResource, { timeoutMs: CALL_MS });
    const conditions = wanted.map(({ name }) =>
      items.find((node) => node.metadata.name === name)?.status?.conditions?.find(({ type }) => type === 'Ready'),
    );
    const ready = conditions.filter((condition) => condition?.status === 'True').length;
    const unready = conditions.findIndex((condition) => condition && condition.status !== 'True');
    const why = unready < 0 ? '' : `; ${wanted[unready]!.name}: ${conditions[unready]!.message}`;
    step.note(`${ready}/${wanted.length} Ready${why}`);
    return ready === wanted.length;
  });
}

export async function waitForDns(lab: Lab, step: Step, signal?: AbortSignal): Promise<void> {
  const { client } = await lab.api();
  const [[key, value]] = Object.entries(DNS_LABEL) as [[string, string]];
  await until(lab, { what: 'CoreDNS', timeoutMs: 60_000, signal }, async () => {
    const labelSelector = `${key}=${value}`;
    const { items } = await client.list(pods, { namespace: 'kube-system', labelSelector, timeoutMs: CALL_MS });
    const conditions = items.flatMap((pod) => pod.status?.conditions ?? []);
    const isReady = conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
    step.note(isReady ? '' : (conditions.find(({ status }) => status !== 'True')?.message ?? ''));
    return isReady;
  });
}

/** containerd listens when it can answer; a kubelet that finds it silent gives up. */
export async function waitForContainerd(lab: Lab, node: NodeLayout): Promise<void> {
  const needs = [`${node.name}/containerd`];
  await until(lab, { what: `containerd of ${node.name}`, timeoutMs: 60_000, needs }, async () => {
    const socket = connect(node.containerdSocket);
    await once(socket, 'connect').finally(() => socket.destroy());
    return true;
  });
}

interface Wait {
  what: string;
  timeoutMs: number;
  /** Components whose end makes waiting pointless; all of them unless given. */
  needs?: readonly string[];
  signal?: AbortSignal | undefined;
}

/** Poll until true. A component that dies meanwhile ends the wait at once: waiting longer would not help. */
async function until(lab: Lab, { what, timeoutMs, needs, signal }: Wait, check: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await check().catch(() => false))) {
    signal?.throwIfAborted();
    const dead = lab.components().find(({ name, state }) => state === 'stopped' && (needs?.includes(name) ?? true));
    if (dead) throw new LabError('ComponentFailed', `${dead.name} of lab "${lab.name}" has ended`, `see ${dead.log}`);
    if (Date.now() > deadline) {
      const message = `lab "${lab.name}" waited ${timeoutMs / 1000} s for ${what}`;
      throw new LabError('Timeout', message, `see the logs in ${lab.layout.dir}`);
    }
    await sleep(POLL_MS);
  }
}
