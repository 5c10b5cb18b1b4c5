import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  addNode,
  createLab,
  dropTraffic,
  freezeComponent,
  healPartition,
  killComponent,
  type Lab,
  partitionNode,
  removeLab,
  run,
  startNode,
  stopNode,
  thawComponent,
} from '@valkey-operator/lab';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { listTraces } from './support/traces.ts';
import { toManifests, valkeyServer } from './support/workloads.ts';

const NAME = 'faults';
/** Long enough for whoever is alive to have acted; what is asserted after it is that nobody did. */
const A_WHILE = 1000;
/** Kubernetes calls a silent node unreachable after 16 s in a lab. */
const NODE_TIMEOUT = { timeout: 60_000, interval: 250 };

let lab: Lab;
const address: Record<string, string> = {};

const kubectl = async (...args: string[]) => (await lab.kubectl(args)).stdout.trim();
const field = (object: string, path: string) => kubectl('get', object, '--ignore-not-found', '-o', `jsonpath=${path}`);
const isReady = (object: string) => field(object, '{.status.conditions[?(@.type=="Ready")].status}');
const becomesReady = (...objects: string[]) => kubectl('wait', '--for=condition=Ready', '--timeout=90s', ...objects);
const cli = async (pod: string, ...args: string[]) => kubectl('exec', pod, '--', 'valkey-cli', ...args);
/** A short request, answered with what came of it. */
const attempt = (...args: string[]) => lab.kubectl([...args, '--request-timeout=2s'], { allowFailure: true });
const pidOf = (component: string) => lab.component(component).process.pid;
const stateOf = (component: string) => lab.components().find(({ name }) => name === component)?.state;

/** What `from` hears from `to`: `PONG`, or an error within a second. */
async function ping(from: string, to: string): Promise<string> {
  const args = ['exec', from, '--', 'valkey-cli', '-t', '1', '-h', address[to] ?? to, 'PING'];
  const { stdout, stderr } = await lab.kubectl(args, { allowFailure: true });
  return `${stdout}${stderr}`.trim();
}

beforeAll(async () => {
  await removeLab(NAME);
  lab = await createLab({ name: NAME, nodes: 2 });
  await lab.apply(
    toManifests([
      ...valkeyServer('near', { node: 'node1' }),
      ...valkeyServer('far', { node: 'node2', storage: '10Mi' }),
      ...valkeyServer('third', { node: 'node2' }),
    ]),
  );
  const pods = ['near-0', 'far-0', 'third-0'];
  // One by one: of several, kubectl waits for the first only, and of the others says that there are none.
  for (const pod of pods) await kubectl('wait', '--for=create', '--timeout=30s', `pod/${pod}`);
  await becomesReady(...pods.map((pod) => `pod/${pod}`));
  for (const pod of pods) address[pod] = await field(`pod/${pod}`, '{.status.podIP}');
});

/** One failed test does not fail the next: what it broke and did not mend is mended here. */
afterEach(() => {
  for (const { name, state } of lab.components()) {
    if (state === 'frozen') thawComponent(lab, name);
    if (state === 'stopped') lab.start(name);
  }
});

afterAll(async () => {
  await removeLab(NAME);
  expect(listTraces(NAME)).toEqual([]);
});

describe('the control plane', () => {
  test('does only what those of its components do that live', async () => {
    await killComponent(lab, 'kube-controller-manager');
    await lab.apply(toManifests(valkeyServer('order', { storage: '10Mi' })));
    await sleep(A_WHILE);
    expect(await field('pod/order-0', '{.metadata.name}')).toBe('');

    await killComponent(lab, 'kube-scheduler');
    lab.start('kube-controller-manager');
    await kubectl('wait', '--for=create', '--timeout=60s', 'pod/order-0');
    await sleep(A_WHILE);
    expect(await field('pod/order-0', '{.spec.nodeName}')).toBe('');

    await killComponent(lab, 'provisioner');
    lab.start('kube-scheduler');
    const selected = () => field('pvc/data-order-0', '{.metadata.annotations.volume\\.kubernetes\\.io/selected-node}');
    await expect.poll(selected, { timeout: 60_000 }).toMatch(/^node[12]$/);
    await sleep(A_WHILE);
    expect(await field('pvc/data-order-0', '{.spec.volumeName}')).toBe('');

    lab.start('provisioner');
    await becomesReady('pod/order-0');
    await kubectl('delete', 'statefulset,service', 'order', '--wait=false');
  });

  test('refuses connections while the API server is dead, and has forgotten nothing when it is back', async () => {
    const before = pidOf('kube-apiserver');
    await killComponent(lab, 'kube-apiserver');
    expect(stateOf('kube-apiserver')).toBe('stopped');
    expect((await attempt('get', '--raw', '/readyz')).stderr).toMatch(/refused|reset/);
    lab.start('kube-apiserver');
    await expect.poll(async () => (await attempt('get', '--raw', '/readyz')).stdout, { timeout: 60_000 }).toBe('ok');
    expect(pidOf('kube-apiserver')).not.toBe(before);
    expect(await isReady('pod/near-0')).toBe('True');
  });

  test('leaves requests unanswered while the API server is frozen', async () => {
    await freezeComponent(lab, 'kube-apiserver');
    expect(stateOf('kube-apiserver')).toBe('frozen');
    expect((await attempt('get', '--raw', '/readyz')).stderr).toMatch(/timeout|deadline exceeded/i);
    thawComponent(lab, 'kube-apiserver');
    await expect.poll(async () => (await attempt('get', '--raw', '/readyz')).stdout, { timeout: 60_000 }).toBe('ok');
  });

  test('accepts no change while etcd is frozen, and remembers after etcd was killed', async () => {
    await freezeComponent(lab, 'etcd');
    expect((await attempt('create', 'configmap', 'lost')).code).not.toBe(0);
    thawComponent(lab, 'etcd');
    const create = async () => (await attempt('create', 'configmap', 'kept')).stderr;
    await expect.poll(create, { timeout: 60_000 }).toContain('already exists');
    await killComponent(lab, 'etcd');
    expect((await attempt('get', 'configmap', 'kept')).code).not.toBe(0);
    lab.start('etcd');
    await expect.poll(async () => (await attempt('get', 'configmap', 'kept')).code, { timeout: 60_000 }).toBe(0);
  });
});

describe('a node', () => {
  test('without its kubelet is NotReady, while its pods serve on', async () => {
    await freezeComponent(lab, 'node1/kubelet');
    await expect.poll(() => isReady('node/node1'), NODE_TIMEOUT).toBe('Unknown');
    expect(await ping('third-0', 'near-0')).toBe('PONG');
    thawComponent(lab, 'node1/kubelet');
    await expect.poll(() => isReady('node/node1'), NODE_TIMEOUT).toBe('True');
  });

  test('without its container runtime keeps its containers, and starts none', async () => {
    const { containerdSocket } = lab.node('node1');
    const runtime = () =>
      run('ctr', ['--address', containerdSocket, '--timeout', '2s', 'version'], { allowFailure: true });
    expect((await runtime()).code).toBe(0);
    await freezeComponent(lab, 'node1/containerd');
    expect((await runtime()).code).not.toBe(0);
    expect(await ping('third-0', 'near-0')).toBe('PONG');
    await killComponent(lab, 'node1/containerd');
    lab.start('node1/containerd');
    await expect.poll(async () => (await runtime()).code, { timeout: 60_000 }).toBe(0);
    await expect.poll(() => cli('near-0', 'PING').catch(() => ''), { timeout: 60_000 }).toBe('PONG');
  });

  test('without its kube-proxy does not learn of new Services', async () => {
    await killComponent(lab, 'node1/kube-proxy');
    await kubectl('expose', 'pod', 'third-0', '--name=late', '--port=6379');
    const late = await field('service/late', '{.spec.clusterIP}');
    await expect.poll(() => ping('far-0', late), { timeout: 30_000 }).toBe('PONG');
    expect(await ping('near-0', late)).not.toBe('PONG');
    lab.start('node1/kube-proxy');
    await expect.poll(() => ping('near-0', late), { timeout: 30_000 }).toBe('PONG');
  });

  test('that is partitioned works on, but nobody reaches it until it is healed', async () => {
    expect(await ping('near-0', 'far-0')).toBe('PONG');
    await partitionNode(lab, 'node2');
    expect(await ping('near-0', 'far-0')).not.toContain('PONG');
    expect(stateOf('node2/kubelet')).toBe('running');
    const tasks = await run('ctr', ['--address', lab.node('node2').containerdSocket, '-n', 'k8s.io', 'task', 'ls']);
    expect(tasks.stdout).toContain('RUNNING');
    await expect.poll(() => isReady('node/node2'), NODE_TIMEOUT).toBe('Unknown');
    await healPartition(lab, 'node2');
    await expect.poll(() => isReady('node/node2'), NODE_TIMEOUT).toBe('True');
    await expect.poll(() => ping('near-0', 'far-0'), { timeout: 30_000 }).toBe('PONG');
  });

  test('that loses power loses its processes, and comes back with its pods and their data', async () => {
    await cli('far-0', 'SET', 'on', 'a volume');
    await cli('third-0', 'SET', 'on', 'an emptyDir');
    const pods = ['far-0', 'third-0'];
    const uids = await Promise.all(pods.map((pod) => field(`pod/${pod}`, '{.metadata.uid}')));
    const traces = () => listTraces(NAME).filter((trace) => trace.startsWith('process') && trace.includes('/node2/'));
    expect(traces()).not.toEqual([]);
    await stopNode(lab, 'node2');
    expect(traces()).toEqual([]);
    await expect.poll(() => isReady('node/node2'), NODE_TIMEOUT).toBe('Unknown');

    await startNode(lab, 'node2');
    await expect.poll(() => isReady('node/node2'), NODE_TIMEOUT).toBe('True');
    const restarts = () =>
      Promise.all(pods.map((pod) => field(`pod/${pod}`, '{.status.containerStatuses[0].restartCount}')));
    await expect.poll(restarts, { timeout: 60_000 }).toEqual(['1', '1']);
    await becomesReady(...pods.map((pod) => `pod/${pod}`));
    expect(await Promise.all(pods.map((pod) => field(`pod/${pod}`, '{.metadata.uid}')))).toEqual(uids);
    expect(await cli('far-0', 'GET', 'on')).toBe('a volume');
    expect(await cli('third-0', 'GET', 'on')).toBe('an emptyDir');
    for (const pod of pods) address[pod] = await field(`pod/${pod}`, '{.status.podIP}');
  });
});

describe('traffic between two addresses', () => {
  test.each([
    ['on different nodes', 'near-0', 'far-0', 'third-0'],
    ['on one node', 'third-0', 'far-0', 'near-0'],
  ])('%s is dropped both ways, others are not disturbed, and it flows again', async (_where, a, b, bystander) => {
    const restore = await dropTraffic(lab, address[a]!, address[b]!);
    expect(await ping(a, b)).not.toContain('PONG');
    expect(await ping(b, a)).not.toContain('PONG');
    expect(await ping(bystander, a)).toBe('PONG');
    expect(await ping(b, bystander)).toBe('PONG');
    await restore();
    expect(await ping(a, b)).toBe('PONG');
    expect(await ping(b, a)).toBe('PONG');
  });
});

describe('a lab that grows', () => {
  test('gets a node that takes pods, which find the others by name', async () => {
    const node = await addNode(lab);
    expect(node.name).toBe('node3');
    expect(lab.nodes.map(({ name }) => name)).toEqual(['node1', 'node2', 'node3']);
    expect(await isReady('node/node3')).toBe('True');
    await lab.apply(toManifests(valkeyServer('newcomer', { node: 'node3' })));
    await kubectl('wait', '--for=create', '--timeout=30s', 'pod/newcomer-0');
    await becomesReady('pod/newcomer-0');
    expect(await cli('newcomer-0', '-h', 'near.default.svc.cluster.local', 'PING')).toBe('PONG');
    expect(await cli('near-0', '-h', 'newcomer-0.newcomer', 'PING')).toBe('PONG');
  });

  test('is as it was when a node cannot be added', async () => {
    await run('ip', ['netns', 'add', `valkey-lab-${NAME}-node4`]);
    await expect(addNode(lab)).rejects.toThrow('File exists');
    expect(lab.nodes).toHaveLength(3);
    expect(lab.components().filter(({ name }) => name.startsWith('node4/'))).toEqual([]);
    expect(listTraces(NAME).filter((trace) => trace.includes('node4'))).toEqual([]);
  });
});

describe('what a lab can be asked', () => {
  test('are the last lines of every component', () => {
    for (const { name, log } of lab.components()) {
      const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
      expect(lab.logs(name, 5)).toEqual(lines.slice(-5));
    }
    expect(lab.logs('node1/kubelet', 1000).join('\n')).toContain('node1');
  });

  test('are components and nodes it has; for others it says which there are', () => {
    expect(() => lab.logs('node9/kubelet')).toThrow('lab "faults" has no component "node9/kubelet"');
    expect(() => lab.node('node9')).toThrow('lab "faults" has no node "node9"');
    expect(() => lab.start('kubelet')).toThrow('lab "faults" has no component "kubelet"');
  });

  test('is to be whole again: making it starts what has died', async () => {
    await killComponent(lab, 'node1/kube-proxy');
    await killComponent(lab, 'kube-apiserver');
    const again = await createLab({ name: NAME, nodes: 3 });
    expect(again.components().filter(({ state }) => state !== 'running')).toEqual([]);
    expect(await isReady('pod/near-0')).toBe('True');
    await expect(createLab({ name: NAME, nodes: 1 })).rejects.toThrow('already runs, with 3 nodes instead of 1');
  });
});
