import { childNames, type ClusterSnapshot, type Plan } from '@valkey-operator/core';
import { apiVersion } from '@valkey-operator/api';
import { KubeClient, type TransportRequest } from '@valkey-operator/kube';
import { FakeApi, failure } from '@valkey-operator/kube/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createCaches, listCaches } from '../caches.ts';
import { createMetrics } from '../metrics.ts';
import {
  aCluster,
  aPod,
  aReport,
  CLUSTER_PATH,
  FakeLeadership,
  namespace,
  quietLog,
  settle,
} from '../testing/builders.ts';
import { aPlan, operator } from '../testing/plans.ts';
import { noTracing } from '../tracing/orchestration-tracer.ts';
import { ReportBook } from '../wire/report-book.ts';
import type { SidecarAddress } from '../wire/sidecar-link.ts';
import { ClusterController, type ClusterControllerContext } from './cluster-controller.ts';
import { CommandPace } from './command-pace.ts';
import { type Checkpoint, noCheckpoint } from './crash-points.ts';
import { noRecorder } from './snapshot-recorder.ts';
import { RefusalBook } from './refusal-book.ts';
import { RepairBook } from './repair-book.ts';

const PODS = `/api/v1/namespaces/${namespace}/pods`;
const DETAIL_PATH = `/apis/${apiVersion}/namespaces/${namespace}/valkeyclusterstatuses/${childNames('demo').status}`;
const UPGRADE_PATH = `/apis/${apiVersion}/namespaces/${namespace}/valkeyupgrades/up`;
const KEY = { namespace, name: 'demo' };

async function aController(plan: (snapshot: ClusterSnapshot) => Plan, checkpoint: Checkpoint = noCheckpoint) {
  const api = new FakeApi();
  const client = new KubeClient({ transport: api.transport });
  const caches = createCaches({ client, namespace: 'ops', watchNamespaces: [namespace], onError: () => {} });
  const stop = new AbortController();
  api.put(CLUSTER_PATH, { ...aCluster(), status: {} }, 'cluster-uid');
  for (const [, cache] of listCaches(caches)) void cache.run(stop.signal);
  await Promise.all(listCaches(caches).map(([, cache]) => cache.whenSynced()));
  const snapshots: ClusterSnapshot[] = [];
  const wanted: SidecarAddress[][] = [];
  const events: string[] = [];
  const leadership = new FakeLeadership();
  const reports = new ReportBook();
  const context: ClusterControllerContext = {
    client,
    caches,
    reports,
    leadership,
    operator,
    sessions: {
      find: () => undefined,
      whenOpen: () => Promise.resolve(undefined),
      want: (_namespace, _cluster, sidecars) => wanted.push([...sidecars]),
    },
    pace: new CommandPace(),
    checkpoint,
    authorities: {
      rootCertificate: 'root',
      issueIntermediate: () => Promise.reject(new Error('no CA today')),
      issueSidecarCertificate: () => Promise.reject(new Error('no CA today')),
    },
    plan: (snapshot) => {
      snapshots.push(snapshot);
      return plan(snapshot);
    },
    foresight: { forget: () => {} },
    events: { record: (_about, { reason }) => events.push(reason) },
    recorder: noRecorder,
    repairs: new RepairBook(),
    refusals: new RefusalBook(),
    onStale: () => {},
    metrics: createMetrics(),
    tracing: noTracing,
    log: quietLog,
    now: () => 0,
  };
  const controller = new ClusterController(context);
  const running = controller.run();
  onTestFinished(async () => {
    leadership.stop();
    await running;
    stop.abort();
  });
  await until(() => snapshots.length > 0);
  const writes = () => api.requests.filter(({ method }) => method !== 'GET').map(describeRequest);
  return { api, controller, snapshots, wanted, events, leadership, reports, running, writes };
}

function describeRequest({ method, path }: TransportRequest): string {
  return `${method} ${path.split('?')[0]!.split('/').slice(-3).join('/')}`;
}

async function until(isSo: () => boolean): Promise<void> {
  await expect.poll(isSo).toBe(true);
  await settle();
}

test('each kind of object that tells how things stand has a point before its write and one after it', async () => {
  const passed: string[] = [];
  const upgrades = [{ name: 'up', status: { phase: 'Running' } }] as const;
  const plan = () => ({ ...aPlan([], { status: { phase: 'Running' } }), upgrades });
  const { api } = await aController(plan, (moment, point) => passed.push(`${moment} ${point}`));
  api.put(DETAIL_PATH, { metadata: { name: 'demo-status', labels: { 'valkey.io/cr': 'demo' } } });
  api.put(UPGRADE_PATH, { metadata: { name: 'up' }, spec: { clusterRef: { name: 'demo' } } });
  const names = ['ValkeyCluster', 'ValkeyClusterStatus', 'ValkeyUpgrade'];
  const all = names.flatMap((name) => ['before', 'after'].map((moment) => `${moment} Upkeep/WriteStatus ${name}`));
  await expect.poll(() => [...new Set(passed)]).toEqual(expect.arrayContaining(all));
});

describe('a cluster at rest', () => {
  test('costs no write, however often it is looked at', async () => {
    const { controller, snapshots, writes } = await aController(() => aPlan([], { status: { phase: 'Running' } }));
    await until(() => writes().length > 0);
    const looks = snapshots.length;
    for (let look = 1; look <= 5; look += 1) {
      controller.wake(KEY);
      await until(() => snapshots.length >= looks + look);
    }
    expect(writes()).toEqual(['PATCH valkeyclusters/demo/status']);
  });

  test('holds no session', async () => {
    const { wanted } = await aController(() => aPlan());
    expect(wanted).toEqual([[]]);
  });
});

describe('a look at a cluster', () => {
  test('follows each change of the cluster, its pods and its defaults', async () => {
    const { api, snapshots } = await aController(() => aPlan());
    const defaults = `/apis/${apiVersion}/namespaces/ops/valkeyclusterdefaults/valkey-operator-defaults`;
    for (const change of [
      () => api.put(CLUSTER_PATH, { ...aCluster({ generation: 2 }), status: {} }),
      () => api.put(`${PODS}/demo-0`, { ...aPod('demo-0') }),
      () => api.put(defaults, { spec: {} }),
    ]) {
      const looks = snapshots.length;
      change();
      await until(() => snapshots.length > looks);
    }
    expect(snapshots.at(-1)?.pods.map(({ name }) => name)).toEqual(['demo-0']);
  });

  test('wants sessions to the sidecars that run, while something is under way', async () => {
    const { api, wanted } = await aController(() => aPlan([], { stayConnected: true }));
    const sidecar = (state: object) => ({ podIP: '10.0.0.1', initContainerStatuses: [{ name: 'sidecar', state }] });
    api.put(`${PODS}/demo-0`, { ...aPod('demo-0'), status: sidecar({ running: {} }) }, 'demo-0-uid');
    api.put(`${PODS}/demo-1`, { ...aPod('demo-1'), status: sidecar({ waiting: {} }) }, 'demo-1-uid');
    await until(() => (wanted.at(-1)?.length ?? 0) > 0);
    expect(wanted.at(-1)).toEqual([
      { namespace, cluster: 'demo', pod: 'demo-0', podUid: 'demo-0-uid', ip: '10.0.0.1' },
    ]);
  });

  test('tells people once what goes on for long', async () => {
    const lost = { reason: 'QuorumLost', message: 'two of three' } as const;
    const { controller, snapshots, events } = await aController(() => aPlan([], { events: [lost] }));
    controller.wake(KEY);
    await until(() => snapshots.length > 1);
    expect(events).toEqual(['QuorumLost']);
  });

  test('writes the detail of the status into its own object', async () => {
    const { api, writes } = await aController(() => aPlan([], { detail: { phase: 'Running' } }));
    api.put(DETAIL_PATH, { metadata: { name: 'demo-status', labels: { 'valkey.io/cr': 'demo' } } });
    await expect.poll(writes).toContain('PATCH valkeyclusterstatuses/demo-status/status');
  });

  test('is taken again when its status came too late', async () => {
    const { api, snapshots } = await aController(() => aPlan([], { status: { phase: 'Running' } }));
    await until(() => snapshots.length > 0);
    let conflicts = 0;
    api.intercept = ({ path }) =>
      path.includes('/status') && ++conflicts === 1 ? failure(409, 'Conflict') : undefined;
    api.put(CLUSTER_PATH, { ...aCluster(), status: { phase: 'Creating' } });
    await until(() => conflicts >= 2);
    expect(api.get(CLUSTER_PATH)).toMatchObject({ status: { phase: 'Running' } });
  });

  test('backs off when actions fail, though events come meanwhile', async () => {
    // The time of the back-off is drawn from 0 on; this one does not end within the test.
    const random = vi.spyOn(Math, 'random').mockReturnValue(1000);
    onTestFinished(() => random.mockRestore());
    const { controller, snapshots } = await aController(() => aPlan([[{ type: 'IssueIntermediate' }]]));
    for (let event = 0; event < 20; event += 1) {
      controller.wake(KEY);
      await settle();
    }
    expect(snapshots).toHaveLength(1);
    controller.wakeAnew(KEY);
    await until(() => snapshots.length >= 2);
  });
});

describe('a cluster that is gone', () => {
  test('leaves neither sessions nor reports behind', async () => {
    const { api, wanted, reports } = await aController(() => aPlan());
    reports.receive(aReport());
    api.remove(CLUSTER_PATH);
    await until(() => reports.size === 0);
    expect(wanted.at(-1)).toEqual([]);
  });

  test('is not planned for when only a late report of it arrives', async () => {
    const { api, controller, snapshots, reports } = await aController(() => aPlan());
    api.remove(CLUSTER_PATH);
    await settle();
    const looks = snapshots.length;
    reports.receive(aReport());
    controller.wake(KEY);
    await until(() => reports.size === 0);
    expect(snapshots).toHaveLength(looks);
  });
});

describe('a term that is over', () => {
  test('plans nothing more', async () => {
    const { controller, snapshots, leadership, running } = await aController(() => aPlan());
    leadership.valid = false;
    controller.wakeAnew(KEY);
    await settle();
    expect(snapshots).toHaveLength(1);
    leadership.lose();
    await running;
    controller.wakeAnew(KEY);
    await settle();
    expect(snapshots).toHaveLength(1);
  });
});
