import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { consoleProgress, createLab, Lab, removeLab } from '@valkey-operator/lab';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listTraces } from './support/traces.ts';
import { toManifests, valkeyServer } from './support/workloads.ts';

/** Two labs side by side: each must be a whole Kubernetes, and neither may notice the other. */
const SIZES = { a: 3, b: 1 };

describe.each(Object.entries(SIZES))('lab %s of %i nodes', (name, nodes) => {
  let lab: Lab;
  const cli = async (pod: string, ...args: string[]) =>
    (await lab.kubectl(['exec', pod, '--', 'valkey-cli', ...args])).stdout.trim();
  const ready = (...pods: string[]) =>
    lab.kubectl(['wait', '--for=condition=Ready', '--timeout=60s', ...pods.map((pod) => `pod/${pod}`)]);
  const gone = (pod: string) => lab.kubectl(['wait', '--for=delete', '--timeout=60s', `pod/${pod}`]);

  beforeAll(async () => {
    await removeLab(name);
    lab = await createLab({ name, nodes, progress: consoleProgress() });
    await lab.apply(
      toManifests([
        ...valkeyServer('witness'),
        ...valkeyServer('keeper', { storage: '100Mi' }),
        ...valkeyServer('leaver', { preStop: ['valkey-cli', '-h', 'witness', 'SET', 'last-words', 'bye'] }),
      ]),
    );
    for (const pod of ['witness', 'keeper', 'leaver'])
      await lab.kubectl(['wait', '--for=create', '--timeout=30s', `pod/${pod}-0`]);
    await ready('witness-0', 'keeper-0', 'leaver-0');
  });

  test('has its nodes Ready, each in a zone', async () => {
    const { stdout } = await lab.kubectl(['get', 'nodes', '--no-headers', '-L', 'topology.kubernetes.io/zone']);
    const rows = stdout.trim().split('\n');
    expect(rows).toHaveLength(nodes);
    for (const row of rows) expect(row).toMatch(/^node\d\s+Ready\s.*zone-[abc]$/);
  });

  test('runs commands in pods and shows what they print', async () => {
    expect(await cli('witness-0', 'PING')).toBe('PONG');
    expect((await lab.kubectl(['logs', 'witness-0'])).stdout).toContain('Ready to accept connections');
  });

  test('resolves names of Services and carries traffic to them, also back to the caller', async () => {
    expect(await cli('keeper-0', '-h', 'witness.default.svc.cluster.local', 'PING')).toBe('PONG');
    expect(await cli('witness-0', '-h', 'witness', 'PING')).toBe('PONG');
    expect(await cli('witness-0', '-h', 'keeper-0.keeper', 'PING')).toBe('PONG');
  });

  test('takes an unready pod out of its Service', async () => {
    const endpoints = async () =>
      (
        await lab.kubectl([
          'get',
          'endpointslices',
          '-l',
          'kubernetes.io/service-name=witness',
          '-o',
          'jsonpath={.items[*].endpoints[*].conditions.ready}',
        ])
      ).stdout;
    expect(await endpoints()).toBe('true');
    await cli('witness-0', 'CLIENT', 'PAUSE', '6000');
    await lab.kubectl(['wait', '--for=condition=Ready=false', '--timeout=30s', 'pod/witness-0']);
    await ready('witness-0');
    expect(await endpoints()).toBe('true');
  });

  test('keeps a volume over the death of its pod, and grows it', async () => {
    await cli('keeper-0', 'SET', 'k', 'kept');
    await lab.kubectl(['delete', 'pod', 'keeper-0', '--wait']);
    await lab.kubectl(['wait', '--for=create', '--timeout=30s', 'pod/keeper-0']);
    await ready('keeper-0');
    expect(await cli('keeper-0', 'GET', 'k')).toBe('kept');
    await lab.kubectl([
      'patch',
      'pvc',
      'data-keeper-0',
      '-p',
      '{"spec":{"resources":{"requests":{"storage":"200Mi"}}}}',
    ]);
    await lab.kubectl([
      'wait',
      '--for=jsonpath={.status.capacity.storage}=200Mi',
      '--timeout=30s',
      'pvc/data-keeper-0',
    ]);
  });

  test('lets a pod finish its preStop hook before it is stopped', async () => {
    await lab.kubectl(['scale', 'statefulset', 'leaver', '--replicas=1']);
    await ready('leaver-0');
    // It speaks once only, and on a busy machine the witness may be out of its Service for a moment.
    await expect.poll(() => cli('leaver-0', '-h', 'witness', 'PING'), { timeout: 30_000 }).toBe('PONG');
    await lab.kubectl(['scale', 'statefulset', 'leaver', '--replicas=0']);
    await gone('leaver-0');
    expect(await cli('witness-0', 'GET', 'last-words')).toBe('bye');
  });

  test('refuses an eviction that a disruption budget forbids, and evicts when it allows', async () => {
    const budget = {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'keeper' },
      spec: { minAvailable: 1, selector: { matchLabels: { app: 'keeper' } } },
    };
    await lab.apply(JSON.stringify(budget));
    await lab.kubectl(['wait', '--for=jsonpath={.status.currentHealthy}=1', '--timeout=30s', 'pdb/keeper']);
    const evict = () =>
      lab.kubectl(['create', '--raw', '/api/v1/namespaces/default/pods/keeper-0/eviction', '-f', '-'], {
        allowFailure: true,
        input: JSON.stringify({
          apiVersion: 'policy/v1',
          kind: 'Eviction',
          metadata: { name: 'keeper-0', namespace: 'default' },
        }),
      });
    expect((await evict()).stderr).toContain("would violate the pod's disruption budget");
    await lab.kubectl(['delete', 'pdb', 'keeper']);
    const uid = async () =>
      (await lab.kubectl(['get', 'pod', 'keeper-0', '--ignore-not-found', '-o', 'jsonpath={.metadata.uid}'])).stdout;
    const before = await uid();
    expect((await evict()).code).toBe(0);
    await expect.poll(uid, { timeout: 30_000 }).not.toBe(before);
  });

  test('removes a volume with its claim', async () => {
    const volume = (await lab.kubectl(['get', 'pvc', 'data-keeper-0', '-o', 'jsonpath={.spec.volumeName}'])).stdout;
    await lab.kubectl(['scale', 'statefulset', 'keeper', '--replicas=0']);
    await gone('keeper-0');
    await lab.kubectl(['delete', 'pvc', 'data-keeper-0', '--wait']);
    await lab.kubectl(['wait', '--for=delete', '--timeout=30s', `pv/${volume}`]);
    expect(lab.nodes.flatMap((node) => readdirSync(join(node.dir, 'volumes')))).toEqual([]);
  });
});

describe('removing labs', () => {
  afterAll(() => Promise.all(Object.keys(SIZES).map((name) => removeLab(name))));

  test('takes one away without the other noticing, and leaves nothing of either behind', async () => {
    expect(listTraces('a')).not.toEqual([]);
    await removeLab('a');
    expect(listTraces('a')).toEqual([]);
    const b = Lab.open('b');
    expect(b.components().filter(({ state }) => state !== 'running')).toEqual([]);
    expect((await b.kubectl(['get', '--raw', '/readyz'])).stdout).toBe('ok');
    await removeLab('b');
    expect(listTraces('b')).toEqual([]);
  });
});
