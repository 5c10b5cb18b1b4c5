import { builtInDefaults, type ValkeyCluster } from '@valkey-operator/api';
import type { Pod } from '@valkey-operator/kube';
import { Lab } from '@valkey-operator/lab';
import { expectText } from '@valkey-operator/valkey';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { call, createRestrictedNamespace, TestCluster } from '../support/test-cluster.ts';
import { underLoad } from '../support/under-load.ts';

/** The exporter beside every Valkey (G5): what it tells, how it changes, and that a bad one harms nobody. */
const namespace = 'exporter';
const lab = Lab.open(inject('lab'));
const { client } = await lab.api();
const cluster = new TestCluster(lab, client, namespace, 'told');
/** Another, which is given a bad exporter while the first one is rolled: most of that is waiting. */
const spoilt = new TestCluster(lab, client, namespace, 'spoilt');
const POLL = { timeout: 90_000, interval: 500 };

type Exporter = NonNullable<ValkeyCluster['spec']['exporter']>;
const on = (exporter: Exporter = {}) => ({ exporter: { enabled: true, ...exporter } });
const tag = (name: string) => ({ image: { tag: name } });

const uids = async (of: TestCluster) => (await of.pods()).map(({ metadata }) => metadata.uid!);
const exporterOf = ({ spec }: Pod) => spec?.containers.find(({ name }) => name === 'exporter');

async function metricsOf(ip: string, port: number): Promise<string> {
  const answer = await fetch(`http://${ip}:${port}/metrics`, { signal: AbortSignal.timeout(5000) });
  return answer.text();
}

/** Each pod as its exporter tells of it, and as its Valkey says itself. */
async function compare(port: number): Promise<readonly [told: unknown, is: unknown]> {
  const seen = (await cluster.members()).map(async ({ ip, self }) => {
    const text = await metricsOf(ip, port);
    const info = expectText(await call(ip, ['INFO', 'server']));
    const label = (name: string) => new RegExp(`redis_instance_info\\{.*${name}="(\\w[^"]*)"`).exec(text)?.[1];
    const word = (name: string) => new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1];
    return [
      {
        up: /^redis_up (\d)/m.exec(text)?.[1],
        slots: /^redis_cluster_slots_ok (\d+)/m.exec(text)?.[1],
        role: label('role'),
        version: label('redis_version'),
        run: label('run_id'),
      },
      {
        up: '1',
        slots: '16384',
        role: self.role === 'primary' ? 'master' : 'slave',
        version: word('redis_version'),
        run: word('run_id'),
      },
    ] as const;
  });
  const pairs = await Promise.all(seen);
  return [pairs.map(([told]) => told), pairs.map(([, is]) => is)];
}

async function endpoints(): Promise<string[]> {
  const path = 'jsonpath={range .items[*]}{.endpoints[*].targetRef.name} {.ports[*].port}{"\\n"}{end}';
  const ofService = ['-n', namespace, '-l', 'kubernetes.io/service-name=told-exporter'];
  const { stdout } = await lab.kubectl(['get', 'endpointslices', ...ofService, '-o', path]);
  return stdout.trim().split(/\s+/).toSorted();
}

beforeAll(async () => {
  await createRestrictedNamespace(lab, namespace);
  await Promise.all([cluster.apply(on()), spoilt.apply({})]);
  await cluster.waitUntilReady();
  await spoilt.waitUntilReady();
});
afterAll(() => lab.kubectl(['delete', 'namespace', namespace, '--wait=false']));

describe('an exporter', () => {
  let spoiltBefore: string[];

  test('tells of the Valkey of its pod, and where it does so is in the status', async () => {
    await expect
      .poll(async () => (await cluster.get()).status?.exporter, POLL)
      .toEqual({
        enabled: true,
        pods: '6/6',
        metricsEndpoint: 'http://told-exporter.exporter.svc:9121/metrics',
      });
    const [told, is] = await compare(9121);
    expect(told).toEqual(is);
    const names = (await cluster.pods()).map(({ metadata }) => metadata.name);
    expect(await endpoints()).toEqual([...names, '9121'].toSorted());
  });

  test('changes with everything else in one roll, under load', async () => {
    spoiltBefore = await uids(spoilt);
    await spoilt.apply(on(tag('v9.99')));
    const before = await uids(cluster);
    const seen = new Set(before);
    const resources = { requests: { cpu: '50m', memory: '256Mi' }, limits: { memory: '512Mi' } };
    const findOld = async () => {
      const now = await uids(cluster);
      for (const uid of now) seen.add(uid);
      return now.filter((uid) => before.includes(uid));
    };
    await underLoad(cluster, {
      fault: () => cluster.apply({ ...on({ ...tag('v1.69'), port: 9200 }), resources }),
      heal: async () => {
        await expect.poll(findOld, POLL).toEqual([]);
        await cluster.waitUntilAtRest();
      },
    });
    expect(await findOld()).toEqual([]);
    expect(seen.size).toBe(2 * before.length);
    const images = (await cluster.pods()).map((pod) => exporterOf(pod)?.image);
    expect(new Set(images)).toEqual(new Set([`${builtInDefaults.exporter.image.name}:v1.69`]));
    await expect.poll(async () => (await cluster.get()).status?.exporter?.pods, POLL).toBe('6/6');
    const [told, is] = await compare(9200);
    expect(told).toEqual(is);
  });

  test('that does not exist costs one replica, is taken back, and says why', async () => {
    const { message } = await spoilt.waitForReason('Degraded', ['RolledBack']);
    expect(message).toMatch(/pod spoilt-\d: container exporter does not start \((ErrImagePull|ImagePullBackOff)/);
    await spoilt.waitUntilReady();
    await expect.poll(async () => (await spoilt.pods()).filter(exporterOf).length, POLL).toBe(0);
    expect((await uids(spoilt)).filter((uid) => !spoiltBefore.includes(uid))).toHaveLength(1);
    expect(await spoilt.eventReasons()).not.toContain('FailedOver');
  });
});
