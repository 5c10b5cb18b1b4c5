import type { ValkeyCluster } from '@valkey-operator/api';
import { Lab } from '@valkey-operator/lab';
import { expectMap } from '@valkey-operator/valkey';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { countStock, layIn } from '../support/stock.ts';
import { call, createRestrictedNamespace, TestCluster } from '../support/test-cluster.ts';
import { underLoad } from '../support/under-load.ts';
import { askForUpgrade, findUpgrade } from './support/upgrades.ts';
import { watchStory } from './support/watch-story.ts';

/** Rolls with a price: of shards that are down meanwhile (C4, C15), and of one replica for what no Kubernetes node has. */
const namespace = 'costly-rolls';
const lab = Lab.open(inject('lab'));
const { client } = await lab.api();
const cluster = new TestCluster(lab, client, namespace, 'lone');
const spec = {
  valkeyImage: { name: 'docker.io/valkey/valkey', tag: '8.1' },
  pvc: { storageSize: '50Mi' },
  deletionPolicy: 'Delete',
} as const;
const UPGRADE = 'leap';
const STOCK = 3000;
const POLL = { timeout: 90_000, interval: 200 };
/** Of 16384, while the shard with the most of them is down. */
const SLOTS_OF_TWO_SHARDS = 16384 - 5462;

beforeAll(async () => {
  await createRestrictedNamespace(lab, namespace);
  await cluster.apply({ ...spec, replicasPerMaster: 0 });
  await cluster.waitUntilReady();
  await layIn(await cluster.primaries(), STOCK);
});
afterAll(() => lab.kubectl(['delete', 'namespace', namespace, '--wait=false']));

describe('shards without a replica', () => {
  test('are not upgraded before a person allows the gap, and the plan says what it is', async () => {
    const before = await uids();
    await cluster.annotate({ 'valkey.io/paused': null, 'valkey.io/allow-gap': null });
    await askForUpgrade(cluster, UPGRADE, '9.1', 'lone', { podReadyTimeout: '1m' });
    const { message } = await cluster.waitForReason('Progressing', ['InvalidSpec']);
    expect(message).toMatch(
      /shards without a replica.* down while .*replicasPerMaster to 1.*valkey\.io\/allow-gap=true/,
    );
    const upgradeSays = async () => (await findUpgrade(cluster, UPGRADE))?.status?.conditions?.[0]?.message;
    await expect.poll(upgradeSays, POLL).toBe(message);
    await cluster.annotate({ 'valkey.io/paused': 'true' });
    const blocked = await planWhen(({ blockedBy }) => blockedBy !== undefined);
    expect(blocked).toMatchObject({ steps: [], podsTouched: 0, blockedBy: [message] });
    await cluster.annotate({ 'valkey.io/allow-gap': 'true' });
    const allowed = await planWhen(({ blockedBy }) => blockedBy === undefined);
    expect(allowed).toMatchObject({ pods: Object.keys(before), failovers: 0, disruptive: true });
    const down = allowed.steps.flatMap(
      (step) => /^Replace pod (\S+), the only one of slots .* not served/.exec(step)?.[1] ?? [],
    );
    expect(down).toEqual(Object.keys(before));
    expect(await uids()).toEqual(before);
  });

  test('are then upgraded one at a time, and have their data again', async () => {
    const before = await uids();
    const phase = async () => (await findUpgrade(cluster, UPGRADE))?.status?.phase;
    const upgrade = async () => {
      const { report } = await underLoad(cluster, {
        waits: false,
        fault: () => cluster.annotate({ 'valkey.io/paused': null }),
        heal: async () => {
          await expect.poll(phase, POLL).toBe('Succeeded');
          await cluster.waitUntilAtRest();
        },
      });
      // Valkey writes its snapshot when it ends.
      expect(report.shards.map(({ lost }) => lost.plain)).toEqual([0, 0, 0]);
    };
    const served = await watchStory(cluster, upgrade, '.status.slotsAssigned');
    expect(await countKept(before)).toBe(0);
    expect(Math.min(...served.match(/\d+/g)!.map(Number))).toBeGreaterThanOrEqual(SLOTS_OF_TWO_SHARDS);
    const replaced = await told('PodReplaced');
    const gap =
      /^Pod lone-\d, the only one of slots \S+, which are not served meanwhile, is replaced: .*:8\.1 to .*:9\.1\.$/;
    expect(replaced).toEqual(Object.keys(before).map(() => expect.stringMatching(gap)));
    expect(await countStock(await cluster.primaries())).toBe(STOCK);
    await cluster.annotate({ 'valkey.io/allow-gap': null });
  });
});

describe('resources that no node has', () => {
  test('are asked for one replica only, which is lost for a while, and are taken back', async () => {
    await cluster.apply(spec);
    await cluster.waitUntilAtRest();
    const before = { uids: await uids(), given: await given(), maxmemory: await running('maxmemory') };
    const primaries = (await cluster.primaries()).map(({ pod }) => pod);
    const memory = { memory: '1000Gi' };
    const resources = { requests: { cpu: '50m', ...memory }, limits: memory };
    await underLoad(cluster, {
      fault: () => cluster.apply({ ...spec, resources }),
      heal: async () => {
        const { message } = await cluster.waitForReason('Degraded', ['Unschedulable']);
        expect(message).toMatch(/^No node takes pod lone-\d: .*Insufficient memory/);
        // As patient as the upgrade whose image runs.
        const degraded = await cluster.waitForReason('Degraded', ['RolledBack'], 120_000);
        expect(degraded.message).toMatch(/because those of the spec failed: pod lone-\d: .*Insufficient memory/);
        await cluster.waitUntilReady();
      },
    });
    const asked = (await told('PodResized')).map(
      (message) => /^(\S+) gets its new resources while it runs\.$/.exec(message)?.[1],
    );
    const [canary] = asked;
    expect(asked).toEqual([expect.stringMatching(/^lone-\d$/)]);
    expect(primaries).not.toContain(canary);
    expect(await told('PodReplaced')).toContainEqual(
      expect.stringMatching(
        `^Pod ${canary}, a replica of .*: its resources, which it cannot get while it runs \\(.*memory`,
      ),
    );
    const { [canary!]: ofCanary, ...others } = before.uids;
    expect(await uids()).toMatchObject(others);
    expect((await uids())[canary!]).not.toBe(ofCanary);
    expect(await given()).toEqual(before.given);
    expect(await running('maxmemory')).toEqual(before.maxmemory);
    expect(await countStock(await cluster.primaries())).toBe(STOCK);
  });
});

type Plan = NonNullable<NonNullable<ValkeyCluster['status']>['plan']>;

async function planWhen(holds: (plan: Plan) => boolean): Promise<Plan> {
  const isThere = ({ status }: ValkeyCluster) => status?.plan !== undefined && holds(status.plan);
  return (await cluster.waitFor('foreseen', isThere, 60_000)).status!.plan!;
}

async function uids(): Promise<Record<string, string | undefined>> {
  return Object.fromEntries((await cluster.pods()).map(({ metadata }) => [metadata.name, metadata.uid]));
}

/** To each Valkey, and how often it began anew because of that. */
async function given(): Promise<unknown[]> {
  return (await cluster.pods()).map(({ spec: made, status }) => ({
    ...made?.containers[0]?.resources,
    restarts: status?.containerStatuses?.[0]?.restartCount,
  }));
}

async function countKept(before: Record<string, string | undefined>): Promise<number> {
  return Object.entries(await uids()).filter(([name, uid]) => before[name] === uid).length;
}

async function told(reason: string): Promise<string[]> {
  return (await cluster.events()).flatMap((event) => (event.reason === reason ? (event.message ?? '') : []));
}

async function running(setting: string): Promise<unknown[]> {
  const answers = (await cluster.members()).map(({ ip }) => call(ip, ['CONFIG', 'GET', setting]));
  return (await Promise.all(answers)).map((answer) => expectMap(answer).get(setting));
}
