import { execFileSync } from 'node:child_process';
import { annotations, builtInDefaults, resolveEffectiveSpec } from '@valkey-operator/api';
import { buildTrialPod } from '@valkey-operator/core';
import { configMaps, pods } from '@valkey-operator/kube';
import { Lab } from '@valkey-operator/lab';
import { viewTrial } from '@valkey-operator/operator/trial-view';
import { expectMap, expectText } from '@valkey-operator/valkey';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { findPodProcesses } from '../support/pod-processes.ts';
import { call, createRestrictedNamespace, sampleSpec, TestCluster } from '../support/test-cluster.ts';
import { underLoad } from '../support/under-load.ts';
import { VALKEY } from './support/data-directory.ts';

/** Settings of a running cluster, and what people do to it behind the operator's back (C5, C6). */
const namespace = 'config';
const lab = Lab.open(inject('lab'));
const { client } = await lab.api();
const POLL = { timeout: 60_000, interval: 250 };
/** Whom its pod runs Valkey as; nobody else may limit it on a machine like this. */
const VALKEY_USER = 999;
const cluster = new TestCluster(lab, client, namespace, 'tuned');

/** What every node says of a setting. */
async function running(name: string): Promise<unknown[]> {
  const answers = (await cluster.members()).map(({ ip }) => call(ip, ['CONFIG', 'GET', name]));
  return (await Promise.all(answers)).map((answer) => expectMap(answer).get(name));
}

async function kept(): Promise<Record<string, string>> {
  const { data } = (await client.get(configMaps, { namespace, name: 'tuned-config' })) as { data?: object };
  const { settings } = JSON.parse((data as Record<string, string>)['settings.json']!) as { settings: object };
  return settings as Record<string, string>;
}

/** Which processes run: another pod or another start shows. */
async function lives(): Promise<unknown[]> {
  return (await cluster.pods()).map(({ metadata, status }) => [
    metadata.uid,
    status?.containerStatuses?.map(({ restartCount }) => restartCount),
  ]);
}

const everywhere = (value: string) => Array.from({ length: 6 }, () => value);
const refusal = async () => (await cluster.waitForReason('Progressing', ['ConfigRejected'])).message;
const atRest = () => cluster.waitForReason('Progressing', ['Healthy']);

let livesBefore: unknown;

beforeAll(async () => {
  await createRestrictedNamespace(lab, namespace);
  await cluster.apply({});
  await cluster.waitUntilReady();
  livesBefore = await lives();
});
afterAll(() => lab.kubectl(['delete', 'namespace', namespace, '--wait=false']));

describe('a changed setting', () => {
  test('is in effect on every node, and kept, without a restart and without a client that notices', async () => {
    const { gapMs, noiseMs } = await underLoad(cluster, {
      fault: () =>
        cluster.apply({
          config: { 'maxmemory-policy': 'allkeys-lru', maxmemory: '300mb', 'notify-keyspace-events': 'KEA' },
          backup: { aof: { appendfsync: 'always' } },
        }),
      heal: async () => {
        await expect.poll(() => running('maxmemory-policy'), POLL).toEqual(everywhere('allkeys-lru'));
        await expect.poll(async () => (await kept())['maxmemory-policy'], POLL).toBe('allkeys-lru');
      },
    });
    // Far less than a restart or a failover would take, on a machine that is busy.
    expect(gapMs).toBeLessThan(1000 + 4 * noiseMs);
    expect(await running('maxmemory')).toEqual(everywhere(String(300 * 1024 * 1024)));
    expect(await running('appendfsync')).toEqual(everywhere('always'));
    await atRest();
    expect(await lives()).toEqual(livesBefore);
  });

  test('that is taken away goes back to the default of Valkey', async () => {
    await cluster.apply({ config: { 'maxmemory-policy': 'allkeys-lru' } });
    await expect.poll(() => running('notify-keyspace-events'), POLL).toEqual(everywhere(''));
    await expect.poll(async () => Object.keys(await kept()), POLL).not.toContain('notify-keyspace-events');
    await atRest();
  });

  test('that Valkey refuses is in effect nowhere, also not for a pod that starts anew', async () => {
    const config = { 'maxmemory-policy': 'as-you-like', 'maxmemory-samples': '7' };
    await underLoad(cluster, {
      fault: () => cluster.apply({ config }),
      heal: async () =>
        expect(await refusal()).toMatch(
          /^Valkey in pod tuned-\d refuses spec\.config\["maxmemory-policy"\] = "as-you-like": CONFIG SET failed \(possibly related to argument 'maxmemory-policy'\) - argument\(s\) must be one of the following: .*\. Every node keeps its old settings\.$/,
        ),
    });
    expect(await running('maxmemory-policy')).toEqual(everywhere('allkeys-lru'));
    expect(await running('maxmemory-samples')).toEqual(everywhere('5'));
    expect((await kept())['maxmemory-policy']).toBe('allkeys-lru');
    expect(await lives()).toEqual(livesBefore);
  });

  test('that Valkey refuses does not come in when the ConfigMap is made anew', async () => {
    await lab.kubectl(['delete', 'configmap', 'tuned-config', '-n', namespace]);
    await expect.poll(async () => (await kept())['maxmemory-policy'], POLL).toBe('allkeys-lru');
    expect(await refusal()).toContain('refuses spec.config["maxmemory-policy"] = "as-you-like"');
  });

  test.each([
    [
      'a name with a typo',
      { 'maxmemory-polcy': 'allkeys-lru' },
      /^spec\.config\["maxmemory-polcy"\] is no setting of Valkey 9\.1\.\d+\. Did you mean maxmemory-policy\? Every node keeps its old settings\.$/,
    ],
    [
      'a unit that Valkey does not know',
      { maxmemory: '1GiB' },
      /^Valkey in pod tuned-\d refuses spec\.config\["maxmemory"\] = "1GiB": .*argument must be a memory value.*/,
    ],
    [
      'a value out of range that takes a restart',
      { 'tcp-backlog': '-1' },
      /^spec\.config\["tcp-backlog"\] is "-1" and must be a whole number from 0 to 2147483647\. Every node keeps its old settings\.$/,
    ],
  ])('with %s is refused', async (_, config, message) => {
    await cluster.apply({ config: { 'maxmemory-policy': 'allkeys-lru', ...config } });
    await expect.poll(refusal, POLL).toMatch(message);
    expect(await running('maxmemory-policy')).toEqual(everywhere('allkeys-lru'));
    expect(await lives()).toEqual(livesBefore);
  });

  test('that one node alone cannot take is taken back from all', async () => {
    const { podUid, pod } = (await cluster.members()).at(-1)!;
    const [pid] = findPodProcesses(podUid, VALKEY);
    execFileSync('prlimit', ['--pid', `${pid}`, '--nofile=11000:11000'], { uid: VALKEY_USER, gid: VALKEY_USER });
    const before = await running('maxclients');
    await cluster.apply({ config: { 'maxmemory-policy': 'allkeys-lru', maxclients: '15000' } });
    await expect
      .poll(refusal, POLL)
      .toMatch(
        new RegExp(`^Valkey in pod ${pod} refuses spec\\.config\\["maxclients"\\] = "15000": .*operating system`),
      );
    await expect.poll(() => running('maxclients'), POLL).toEqual(before);
    expect(await kept()).not.toHaveProperty('maxclients');
    expect(await lives()).toEqual(livesBefore);
  });

  test('that the operator owns is refused at admission', async () => {
    await expect(cluster.apply({ config: { port: '7000' } })).rejects.toThrow(
      'spec.config: Forbidden: must not set port: the operator runs and connects the nodes',
    );
  });

  test('that is right again is put into effect', async () => {
    await cluster.apply({ config: { 'maxmemory-policy': 'volatile-ttl' } });
    await expect.poll(() => running('maxmemory-policy'), POLL).toEqual(everywhere('volatile-ttl'));
    await atRest();
    expect(await lives()).toEqual(livesBefore);
  });
});

describe('a Valkey of its own that proves settings', () => {
  /** Of a cluster that there is not, so nobody looks after it. */
  async function prove(name: string, settings: Record<string, string>) {
    const owner = { ...(await cluster.get()), metadata: { ...(await cluster.get()).metadata, name } };
    const spec = resolveEffectiveSpec(builtInDefaults, {}, {}, { ...sampleSpec, management: 'Bound' });
    const { metadata, ...rest } = buildTrialPod(owner, spec, { hash: name, settings });
    const { ownerReferences: _, ...own } = metadata;
    await lab.apply(JSON.stringify({ ...rest, metadata: own }));
    const verdict = async () => viewTrial((await client.get(pods, { namespace, name: own.name }))!);
    await expect.poll(async () => (await verdict()).verdict, POLL).not.toBe('unknown');
    return verdict();
  }

  test('lives with what the nodes run with', async () => {
    expect(await prove('fit', { ...(await kept()), databases: '32' })).toMatchObject({ verdict: 'accepted' });
  });

  test('says why it ends', async () => {
    expect(await prove('unfit', { ...(await kept()), databases: '0' })).toMatchObject({
      verdict: 'refused',
      message: 'databases "0" (argument must be between 1 and 2147483647 inclusive)',
    });
  });
});

describe('what somebody changes behind the back of the operator', () => {
  const drift = async () => (await cluster.condition('DriftDetected'))?.message;
  const patch = (kind: string, name: string, change: object) =>
    lab.kubectl(['patch', kind, name, '-n', namespace, '--type', 'merge', '-p', JSON.stringify(change)]);

  test.each([
    [
      'service',
      'tuned',
      { spec: { type: 'NodePort' } },
      'Service tuned: spec.type is "NodePort", should be "ClusterIP"',
    ],
    [
      'poddisruptionbudget',
      'tuned',
      { spec: { minAvailable: '0%' } },
      'PodDisruptionBudget tuned: spec.minAvailable is "0%", should be "100%"',
    ],
  ])('in its %s is put back, and told with what it should be', async (kind, name, change, words) => {
    await patch(kind, name, change);
    await expect.poll(drift, POLL).toContain(words);
    const told = async () => (await cluster.events()).map(({ reason, message }) => `${reason} ${message}`);
    await expect.poll(told, POLL).toContain(`DriftRepaired ${words}`);
    await expect
      .poll(async () => (await lab.kubectl(['get', kind, name, '-n', namespace, '-o', 'json'])).stdout, POLL)
      // Whoever asks for the value finds the one that should be.
      .toContain(Object.values(change.spec)[0] === '0%' ? '"minAvailable": "100%"' : '"type": "ClusterIP"');
  });

  test('in its ConfigMap is put back, and no node starts with it', async () => {
    await patch('configmap', 'tuned-config', {
      data: { 'settings.json': '{"hash":"x","settings":{"maxmemory":"1"}}' },
    });
    await expect.poll(drift, POLL).toContain('ConfigMap tuned-config: data.settings.json is');
    await expect.poll(async () => (await kept())['maxmemory-policy'], POLL).toBe('volatile-ttl');
  });

  test('by CONFIG SET is noticed within a minute or so, put back, and told', async () => {
    const [node] = await cluster.primaries();
    await call(node!.ip, [
      'CONFIG',
      'SET',
      'maxmemory-policy',
      'noeviction',
      'cluster-allow-replica-migration',
      'yes',
      'lfu-log-factor',
      '7',
      'cluster-node-timeout',
      '600000',
    ]);
    await expect
      .poll(() => drift(), { timeout: 90_000, interval: 250 })
      .toContain(`Valkey in pod ${node!.pod}: maxmemory-policy is noeviction, should be volatile-ttl`);
    await expect.poll(() => running('maxmemory-policy'), POLL).toEqual(everywhere('volatile-ttl'));
    expect(await running('cluster-allow-replica-migration')).toEqual(everywhere('no'));
    expect(await running('lfu-log-factor')).toEqual(everywhere('10'));
    expect(await running('cluster-node-timeout')).toEqual(everywhere('5000'));
    expect(await lives()).toEqual(livesBefore);
  });

  test('of the port that a primary announces is put back, though its replica has lost it by then', async () => {
    const [node] = await cluster.primaries();
    const { ip: replica } = await cluster.replicaOf(node!);
    const link = async () => expectText(await call(replica, ['INFO', 'replication']));
    await cluster.annotate({ [annotations.paused]: 'true' });
    await call(node!.ip, ['CONFIG', 'SET', 'cluster-announce-port', '1234']);
    await expect.poll(link, POLL).toContain('master_link_status:down');
    await cluster.annotate({ [annotations.paused]: null });
    await expect
      .poll(() => drift(), { timeout: 90_000, interval: 250 })
      .toContain(`Valkey in pod ${node!.pod}: cluster-announce-port is 1234, should be 0`);
    await expect.poll(() => running('cluster-announce-port'), POLL).toEqual(everywhere('0'));
    await expect.poll(link, POLL).toContain('master_link_status:up');
    await atRest();
    expect(await lives()).toEqual(livesBefore);
  });

  test('again and again is put back ever less often, and the quarrel is told', async () => {
    const insist = async () => {
      await patch('poddisruptionbudget', 'tuned', { spec: { minAvailable: '50%' } });
      return (await cluster.condition('DriftDetected'))?.reason;
    };
    await expect.poll(insist, { timeout: 60_000, interval: 500 }).toBe('DriftContested');
    expect(await drift()).toContain('somebody changes it again');
  });
});

describe('a setting that Valkey reads only at its start', () => {
  test('rolls the pods, one at a time, and no confirmed write is lost', async () => {
    const before = new Set((await cluster.pods()).map(({ metadata }) => metadata.uid));
    await underLoad(cluster, {
      fault: () => cluster.apply({ config: { 'maxmemory-policy': 'volatile-ttl', 'tcp-backlog': '600' } }),
      heal: async () => {
        await expect
          .poll(() => running('tcp-backlog'), { timeout: 180_000, interval: 1000 })
          .toEqual(everywhere('600'));
        await atRest();
      },
    });
    const after = (await cluster.pods()).map(({ metadata }) => metadata.uid);
    expect(after.filter((uid) => before.has(uid))).toEqual([]);
  });
});
