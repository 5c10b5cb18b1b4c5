import type { ValkeyCluster } from '@valkey-operator/api';
import { pods } from '@valkey-operator/kube';
import { Lab } from '@valkey-operator/lab';
import { expectMap } from '@valkey-operator/valkey';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { call, createRestrictedNamespace, sampleSpec, TestCluster } from '../support/test-cluster.ts';
import { underLoad } from '../support/under-load.ts';
import { Operators } from './support/operators.ts';
import { watchStory } from './support/watch-story.ts';

/** Changes are foreseen, held, queued, interrupted and cancelled, and tell what they do (C8, C9, C15). */
const namespace = 'orchestration';
const lab = Lab.open(inject('lab'));
const { client } = await lab.api();
const operators = new Operators(lab, client);
const cluster = new TestCluster(lab, client, namespace, 'story');
const POLL = { timeout: 90_000, interval: 250 };
const image = (tag: string) => ({ valkeyImage: { ...sampleSpec.valkeyImage!, tag } });
const old = image('8.1');

type Status = NonNullable<ValkeyCluster['status']>;

beforeAll(async () => {
  await createRestrictedNamespace(lab, namespace);
  await cluster.apply({ ...old, replicasPerMaster: 0 });
  await cluster.waitUntilReady();
});
afterAll(() => lab.kubectl(['delete', 'namespace', namespace, '--wait=false']));

test('a change of a paused cluster is foreseen; resumed, it does what was foreseen, and the table tells the story', async () => {
  const before = await uids();
  await cluster.annotate({ 'valkey.io/paused': 'true' });
  await cluster.apply({ ...old, replicasPerMaster: 1 });
  const { plan, pendingOrchestrations } = await statusWhen('foreseen', (status) => status.plan !== undefined);
  const added = ['story-3', 'story-4', 'story-5'];
  expect(plan).toMatchObject({ pods: added, podsTouched: 3, failovers: 0, slotsMoved: 0, disruptive: false });
  expect(pendingOrchestrations?.map(({ kind }) => kind)).toEqual(['ScaleReplicas']);
  expect((await cluster.condition('Paused'))?.message).toContain('.status.plan');
  expect(await uids()).toEqual(before);

  const mark = await countActions();
  const story = await watchStory(cluster, () =>
    underLoad(cluster, {
      waits: false,
      fault: () => cluster.annotate({ 'valkey.io/paused': null }),
      heal: async () => {
        await expect.poll(async () => (await cluster.pods()).length, POLL).toBe(6);
        await cluster.waitUntilReady();
      },
    }),
  );
  expect(story).toMatch(/Updating.*ScaleReplicas/);
  expect(Object.keys(await uids())).toEqual([...Object.keys(before), ...added]);
  // Which of the new pods follows whom depends on where Kubernetes puts them.
  expect((await actionsSince(mark)).toSorted()).toEqual(asActions(plan).toSorted());
  expect((await cluster.get()).status?.plan).toBeUndefined();
  await expect.poll(() => tellings('ScaleReplicas'), POLL).toEqual(['OrchestrationFinished', 'OrchestrationStarted']);
});

test('a disruptive change waits for its maintenance window, and then is what the plan said', async () => {
  const before = await uids();
  const hour = (new Date().getUTCHours() + 2) % 24;
  await cluster.apply({ ...old, maintenanceWindows: [{ cron: `0 ${hour} * * *`, duration: '1h' }] });
  await cluster.annotate({ 'valkey.io/restart-at': new Date().toISOString() });
  const { message } = await cluster.waitForReason('Progressing', ['WaitingForMaintenanceWindow']);
  expect(message).toContain(`T${String(hour).padStart(2, '0')}:00:00Z`);
  const { plan } = await statusWhen('foreseen', (status) => status.plan?.podsTouched === 6);
  expect(plan).toMatchObject({ pods: Object.keys(before), failovers: 3, slotsMoved: 0, disruptive: true });
  expect(plan?.waitsFor).toContain('Waiting for the maintenance window');
  expect(await uids()).toEqual(before);

  const mark = await countActions();
  await underLoad(cluster, {
    fault: () => cluster.apply({ ...old, maintenanceWindows: [{ cron: '* * * * *', duration: '1h' }] }),
    heal: async () => {
      await expect.poll(() => countKept(before), POLL).toBe(0);
      await atRest();
    },
  });
  expect(await actionsSince(mark)).toEqual(asActions(plan));
});

test('a repair goes before an upgrade, which goes on under its id; cancelled, it is taken back', async () => {
  await underLoad(cluster, {
    fault: () => cluster.apply(image('9.1')),
    heal: async () => {
      const { orchestration } = await statusWhen('begun', ({ orchestration: o }) => (o?.pods ?? []).length > 0);
      const { id, kind, pods: inHand } = orchestration!;
      expect(kind).toBe('Upgrade');
      const bystander = await findBystander(inHand ?? []);
      await client.delete(pods, { namespace, name: bystander });
      const healing = await statusWhen('healing', ({ orchestration: o }) => o?.kind === 'Heal');
      expect(healing.pendingOrchestrations?.[0]).toMatchObject({ id, kind: 'Upgrade' });
      await statusWhen('going on', ({ orchestration: o }) => o?.id === id);
      await expect.poll(() => countImages('9.1'), POLL).toBeGreaterThan(0);
      await cluster.annotate({ 'valkey.io/cancel': id });
      const { message } = await cluster.waitForReason('Progressing', ['Cancelled'], 120_000);
      expect(message).toContain('Pods that were replaced go back');
      await cluster.waitUntilReady();
    },
  });
  expect(await countImages('8.1')).toBe(6);
  await cluster.annotate({ 'valkey.io/cancel': null });
  await cluster.apply(old);
  await atRest();
});

test('a second change waits for the first; a restart that is cancelled leaves alone whom it has not reached', async () => {
  const before = await uids();
  await underLoad(cluster, {
    fault: () => cluster.annotate({ 'valkey.io/restart-at': new Date().toISOString() }),
    heal: async () => {
      const { orchestration } = await statusWhen('begun', ({ orchestration: o }) => (o?.pods ?? []).length > 0);
      await cluster.apply({ ...old, config: { hz: '20' } });
      await statusWhen('queued', ({ pendingOrchestrations: waiting }) => waiting?.[0]?.kind === 'Reconfigure');
      await cluster.annotate({ 'valkey.io/cancel': orchestration!.id });
      await expect.poll(() => running('hz'), POLL).toEqual(Array.from({ length: 6 }, () => '20'));
      const { message } = await cluster.waitForReason('Progressing', ['Cancelled']);
      expect(message).toContain('A restart cannot be undone');
    },
  });
  expect(await countKept(before)).toBeGreaterThanOrEqual(3);
  expect(await countKept(before)).toBeLessThan(6);
  await cluster.annotate({ 'valkey.io/restart-at': null, 'valkey.io/cancel': null });
  await cluster.waitForReason('Progressing', ['Healthy']);
});

describe('the newest spec', () => {
  test('wins, also over a change that is under way', async () => {
    const before = await uids();
    await underLoad(cluster, {
      fault: () => cluster.apply({ ...old, config: { hz: '20' }, replicasPerMaster: 2 }),
      heal: async () => {
        const { orchestration } = await statusWhen('begun', ({ orchestration: o }) => o?.kind === 'ScaleReplicas');
        await expect.poll(async () => (await cluster.pods()).length, POLL).toBe(9);
        await cluster.apply({ ...old, config: { hz: '20' } });
        await atRest();
        expect(await logged(orchestration!.id)).toBe(1);
      },
    });
    expect(await uids()).toEqual(before);
  });
});

async function statusWhen(what: string, holds: (status: Status) => boolean): Promise<Status> {
  const { status } = await cluster.waitFor(what, (seen) => seen.status !== undefined && holds(seen.status), 60_000);
  return status!;
}

/** The newest spec is in effect, and nobody has anything left to do. */
async function atRest(): Promise<void> {
  const isDone = ({ metadata, status }: ValkeyCluster) => {
    const progressing = status?.conditions?.find(({ type }) => type === 'Progressing');
    return progressing?.observedGeneration === metadata.generation && progressing?.reason === 'Healthy';
  };
  await cluster.waitFor('at rest', isDone, 120_000);
}

async function uids(): Promise<Record<string, string | undefined>> {
  return Object.fromEntries((await cluster.pods()).map(({ metadata }) => [metadata.name, metadata.uid]));
}

async function countKept(before: Record<string, string | undefined>): Promise<number> {
  return Object.entries(await uids()).filter(([name, uid]) => before[name] === uid).length;
}

async function countImages(tag: string): Promise<number> {
  return (await cluster.pods()).filter(({ spec }) => spec?.containers[0]?.image?.endsWith(`:${tag}`)).length;
}

async function running(setting: string): Promise<unknown[]> {
  const answers = (await cluster.members()).map(({ ip }) => call(ip, ['CONFIG', 'GET', setting]));
  return (await Promise.all(answers)).map((answer) => expectMap(answer).get(setting));
}

/** A replica of another shard than those that something is done to. */
async function findBystander(inHand: readonly string[]): Promise<string> {
  const members = await cluster.members();
  const touched = members.filter(({ pod }) => inHand.includes(pod)).flatMap(({ self }) => [self.id, self.primaryId]);
  const free = members.filter(
    ({ self, pod }) => self.primaryId && !touched.includes(self.primaryId) && !inHand.includes(pod),
  );
  return free.at(-1)!.pod;
}

/** What the operator has done that a person would notice, as its log has it. */
async function listActions(): Promise<string[]> {
  const log = await operators.log((await operators.leader()).pod);
  const actions = log.flatMap(({ msg, cluster: about, action }) => {
    const isOurs = msg === 'action done' && about === `${namespace}/${cluster.name}`;
    return isOurs && /^(DeletePod|failover|replicate) /.test(String(action)) ? [String(action)] : [];
  });
  // A pod that is told to go, and has not gone at the next look, may be told again.
  return actions.filter((action, index) => action !== actions[index - 1]);
}

async function countActions(): Promise<number> {
  return (await listActions()).length;
}

async function actionsSince(count: number): Promise<string[]> {
  return (await listActions()).slice(count);
}

/** The same of a plan. */
function asActions(plan: Status['plan']): string[] {
  return (plan?.steps ?? []).flatMap((step) => {
    const [, pod] = /^Replace pod ([^ ,]+)/.exec(step) ?? [];
    const [, heir] = /^(\S+) takes over/.exec(step) ?? [];
    const [, replica] = /^(\S+) becomes a replica/.exec(step) ?? [];
    if (pod) return `DeletePod ${pod}`;
    if (heir) return `failover on ${heir}`;
    return replica ? `replicate on ${replica}` : [];
  });
}

/** What was told of operations of a kind. */
async function tellings(kind: string): Promise<string[]> {
  const told = (await cluster.events()).filter(({ message }) => message?.startsWith(kind));
  return told.map(({ reason }) => reason ?? '').toSorted();
}

/** How many operations there were from this one on. */
async function logged(first: string): Promise<number> {
  const { stdout } = await lab.kubectl(['-n', namespace, 'get', 'vcs', 'story-status', '-o', 'json']);
  const { orchestrationLog: log } = (
    JSON.parse(stdout) as { status: { orchestrationLog: { orchestration: string }[] } }
  ).status;
  const ids = log.map(({ orchestration }) => orchestration);
  return new Set(ids.slice(ids.indexOf(first))).size;
}
