import { setTimeout as sleep } from 'node:timers/promises';
import { leases, pods } from '@valkey-operator/kube';
import { Lab } from '@valkey-operator/lab';
import { SLOT_COUNT } from '@valkey-operator/valkey';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { signalPodProcess } from '../support/pod-processes.ts';
import { createRandom } from '../support/seeded-random.ts';
import { createRestrictedNamespace, type Member, TestCluster } from '../support/test-cluster.ts';
import { underLoad } from '../support/under-load.ts';
import { formingPhases, phaseOf, type PhaseLengths, reachPhase, timeBirth } from './support/birth-phases.ts';
import { VALKEY } from './support/data-directory.ts';

/**
 * Whenever the operator dies, what it was doing is finished (faults.md 20). `KILLS=50 make e2e E2E=operator-kill` is the
 * long run, SEED the way to repeat one that failed.
 */
const KILLS = Number(process.env['KILLS'] ?? 6);
const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const namespace = 'operator-kill';
const operator = { namespace: 'valkey-system', labelSelector: 'app.kubernetes.io/name=valkey-operator' };
const lab = Lab.open(inject('lab'));
const { client } = await lab.api();
/** Failover waits for this; everything else of a healing is like a birth. */
const NODE_TIMEOUT_MS = 5000;
const POLL = { timeout: 120_000, interval: 250 };

interface Kill {
  readonly number: number;
  /** How far into the time that is meant: 0 its begin, 1 its end. */
  readonly share: number;
  /** Of the member that is hurt. */
  readonly ordinal: number;
  readonly fault: 'its process is killed' | 'its pod is deleted';
}

const random = createRandom(SEED);
const kills = Array.from({ length: KILLS }, (_, index) => ({
  number: index + 1,
  share: Math.round(random() * 100) / 100,
  ordinal: Math.floor(random() * 6),
  fault: random() < 0.5 ? ('its process is killed' as const) : ('its pod is deleted' as const),
}));
/** Births and faults in turn, and births in all their phases in turn. */
const births = kills
  .filter((_, index) => index % 2 === 0)
  .map((kill, index) => ({ ...kill, phase: formingPhases[index % formingPhases.length]! }));
const faults = kills.filter((_, index) => index % 2 === 1);
/** How often the operator really died in each phase of a birth. */
const hits = new Map<string, number>();

beforeAll(() => createRestrictedNamespace(lab, namespace));
afterAll(() => lab.kubectl(['delete', 'namespace', namespace, '--wait=false']));

describe(`an operator that is killed at random (SEED=${SEED})`, () => {
  const patient = new TestCluster(lab, client, namespace, 'patient');

  let lengths: PhaseLengths;

  beforeAll(async () => {
    await patient.apply({});
    lengths = await timeBirth(patient);
    await patient.waitUntilReady();
  });
  afterAll(() => patient.delete());

  test.each(births)(
    'kill $number: $share of the way through "$phase" of a birth, and the cluster is born',
    async (kill) => {
      const cluster = new TestCluster(lab, client, namespace, `born-${kill.number}`);
      await usingFreshOperator(async (killOperator) => {
        await cluster.apply({});
        await killOperator(async () => {
          await reachPhase(cluster, kill.phase);
          await sleep(kill.share * lengths[kill.phase]);
          const phase = await phaseOf(cluster);
          hits.set(phase, (hits.get(phase) ?? 0) + 1);
        });
        await expectWhole(cluster);
      });
      await cluster.delete();
      await expect.poll(async () => (await cluster.pods()).length, POLL).toBe(0);
    },
  );

  test('the kills were spread over the phases of a birth', () => {
    console.error(`killed in ${JSON.stringify(Object.fromEntries(hits))} of births like ${JSON.stringify(lengths)}`);
    // Phases are short, so not every kill hits the one that it was meant for.
    const hit = formingPhases.filter((phase) => hits.has(phase));
    expect(hit.length).toBeGreaterThanOrEqual(Math.min(4, 1 + Math.ceil(births.length / 6)));
  });

  test.each(faults)(
    'kill $number: $share of the way through the healing of member $ordinal ($fault), and the cluster is healed',
    async (kill) => {
      const healingMs = NODE_TIMEOUT_MS + Object.values(lengths).reduce((sum, length) => sum + length, 0);
      const victim = (await patient.members()).find(({ pod }) => pod.endsWith(`-${kill.ordinal}`))!;
      const { report } = await usingFreshOperator((killOperator) =>
        underLoad(patient, {
          fault: async () => {
            await hurt(victim, kill);
            await killOperator(() => sleep(kill.share * healingMs));
          },
          heal: () => expectWhole(patient),
        }),
      );
      expect(report.shards.map(({ lost }) => lost.waited)).toEqual([0, 0, 0]);
    },
  );
});

/**
 * The kubelet lets a container that ends again wait, longer each time; the first time it does not. So each kill gets a pod
 * of its own. The lease is handed over by the old one, which ends in peace.
 */
async function usingFreshOperator<T>(
  use: (kill: (moment: () => Promise<void>) => Promise<void>) => Promise<T>,
): Promise<T> {
  const before = await findOperator();
  if (before.restarts > 0) {
    await client.delete(pods, before);
    await expect.poll(async () => (await findOperator().catch(() => before)).uid, POLL).not.toBe(before.uid);
    await expect.poll(leader, POLL).toContain((await findOperator()).name);
  }
  const { uid, restarts } = await findOperator();
  const result = await use(async (moment) => {
    const led = await leader();
    await moment();
    signalPodProcess(uid, 'node', 'SIGKILL');
    await expect.poll(leader, POLL).not.toBe(led);
  });
  expect(await findOperator()).toMatchObject({ uid, restarts: restarts + 1 });
  return result;
}

async function findOperator() {
  const { items } = await client.list(pods, operator);
  const [running] = items.filter(({ metadata, status }) => !metadata.deletionTimestamp && status?.phase === 'Running');
  if (!running) throw new Error('no operator runs');
  const { name, uid } = running.metadata;
  return {
    namespace: operator.namespace,
    name,
    uid,
    restarts: running.status?.containerStatuses?.[0]?.restartCount ?? 0,
  };
}

/** Who holds the lease: another one for every process. */
async function leader(): Promise<string> {
  const lease = await client.get(leases, { namespace: operator.namespace, name: 'valkey-operator' });
  return lease?.spec?.holderIdentity ?? '';
}

async function hurt({ podUid, pod }: Member, { fault }: Kill): Promise<void> {
  if (fault === 'its process is killed') signalPodProcess(podUid, VALKEY, 'SIGKILL');
  else await client.delete(pods, { namespace, name: pod });
}

/** By what the nodes themselves say, for the status may be from before the kill; and then by the status. */
async function expectWhole(cluster: TestCluster): Promise<void> {
  await expect
    .poll(() => describeWhole(cluster), POLL)
    .toEqual({ nodes: 6, slots: SLOT_COUNT, replicas: [1, 1, 1], strangers: 0 });
  await cluster.waitUntilReady();
}

async function describeWhole(cluster: TestCluster) {
  const members = await cluster.members();
  const ids = new Set(members.map(({ self }) => self.id));
  const primaries = members.filter(({ self }) => self.role === 'primary');
  return {
    nodes: members.length,
    slots: primaries.reduce((sum, { self }) => sum + self.slots.count, 0),
    replicas: primaries.map(({ self }) => members.filter((member) => member.self.primaryId === self.id).length),
    strangers: members.flatMap(({ table }) => table).filter(({ id }) => !ids.has(id)).length,
  };
}
