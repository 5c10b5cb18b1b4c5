import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { annotations } from '@valkey-operator/api';
import { isKubeError } from '@valkey-operator/kube';
import { Lab } from '@valkey-operator/lab';
import { keySlot, SLOT_COUNT } from '@valkey-operator/valkey';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { createRandom } from '../support/seeded-random.ts';
import { call, createRestrictedNamespace, TestCluster } from '../support/test-cluster.ts';
import { CrashOperator, type PointLine } from './support/crash-operator.ts';
import { type CrashOperation, listOperations } from './support/crash-operations.ts';
import { CrashTargets } from './support/crash-targets.ts';

/**
 * The operator is killed before and after every write and command of every operation, and those that follow it leave what
 * an undisturbed one leaves (I3). First an undisturbed run tells which points there are; then runs are killed at each of them
 * as they come along, until none is left. `make crash-points` does all; otherwise a few of one operation, another one every
 * day. SEED repeats a choice, CRASH_POINTS names an operation or is `all`.
 */
const WISH = process.env['CRASH_POINTS'];
const SEED = Number(process.env['SEED'] ?? Math.floor(Date.now() / 86_400_000));
const SAMPLE = 6;
const KEYS = 100;
/** Runs that hit nothing new: what is left then is not reached. */
const PATIENCE = 2;
const POLL = { timeout: 180_000, interval: 250 };
const RESULT = resolve(import.meta.dirname, '../../.lab/crash-points');

const namespace = 'crash-points';
const lab = Lab.open(inject('lab'));
const { client } = await lab.api();
const cluster = new TestCluster(lab, client, namespace, 'brittle');
const operator = new CrashOperator(lab, client);
const operations = listOperations(cluster, whenSettled);
const chosen = choose();
/** Who is told of the points that the operator passes now. */
let listener: (line: PointLine) => void = () => undefined;
const results: { readonly name: string; readonly targets: CrashTargets }[] = [];

beforeAll(async () => {
  await createRestrictedNamespace(lab, namespace);
  await operator.arm((line) => listener(line));
  if (chosen[0]?.name !== 'Create') {
    await operations[0]!.begin(0, {});
    await whenSettled();
  }
});
afterAll(async () => {
  const sum = (count: (targets: CrashTargets) => number) =>
    results.reduce((all, { targets }) => all + count(targets), 0);
  mkdirSync(dirname(RESULT), { recursive: true });
  writeFileSync(RESULT, `crash-points ${sum(({ hits }) => hits)} of ${sum(({ total }) => total)}\n`);
  await lab.kubectl(['delete', 'namespace', namespace, '--wait=false']);
  await operator.disarm();
});

describe(`an operator that is killed at any point (SEED=${SEED})`, () => {
  test.for(chosen.map((operation) => [operation.name, operation] as const))(
    'of %s is followed by one that leaves what an undisturbed one leaves',
    { retry: 0, timeout: 1_800_000 },
    async ([name, operation]) => {
      if (name !== 'Create') await fill();
      const passed: string[] = [];
      const end = await runOnce(operation, 0, async () => {
        listener = ({ event, point }) => void (event === 'done' && passed.push(point));
        return {};
      });
      const targets = new CrashTargets(operation.kind, passed);
      if (WISH === undefined) targets.keep(SAMPLE, createRandom(SEED));
      results.push({ name, targets });
      let idle = 0;
      for (let run = 1; targets.hits < targets.total && idle < PATIENCE; run += 1) {
        const hits = targets.hits;
        await runKilled(operation, run, targets);
        await expect.poll(describeEnd, POLL).toEqual(end);
        idle = targets.hits === hits ? idle + 1 : 0;
        console.error(`${name}, run ${run}: ${targets.hits} of ${targets.total} points`);
      }
      expect(targets.missed).toEqual([]);
    },
  );
});

async function runOnce(
  { prepare, begin, isDone }: CrashOperation,
  run: number,
  arm: () => Promise<Record<string, string>>,
) {
  await prepare?.(run);
  await begin(run, await arm());
  await expect.poll(() => isDone(run), POLL).toBe(true);
  await whenSettled();
  return describeEnd();
}

/** The annotation follows what is left to hit. */
async function runKilled(operation: CrashOperation, run: number, targets: CrashTargets): Promise<void> {
  let aimed: string | null = null;
  let writing = Promise.resolve();
  const aim = (text: string | null) => {
    if (text !== aimed) writing = writing.then(() => annotate(text));
    aimed = text;
    return writing;
  };
  const arm = async () => {
    listener = (line) => {
      targets.note(line);
      void aim(targets.text);
    };
    await aim(targets.text);
    return { [annotations.crashAt]: targets.text };
  };
  await runOnce(operation, run, arm);
  listener = () => undefined;
  await aim(null);
}

/** If it exists: one that is yet to be created has the annotation from the start. */
async function annotate(text: string | null): Promise<void> {
  try {
    await cluster.annotate({ [annotations.crashAt]: text });
  } catch (error) {
    if (!isKubeError(error, 'NotFound')) throw error;
  }
}

/** The newest spec is in effect, and nobody has anything left to do. */
async function whenSettled(): Promise<void> {
  await cluster.waitFor(
    'settled',
    ({ metadata, status }) => {
      const find = (name: string) => status?.conditions?.find(({ type }) => type === name);
      const isSeen = find('Progressing')?.observedGeneration === metadata.generation;
      const isWell = find('Ready')?.status === 'True' && find('Progressing')?.reason === 'Healthy';
      return isSeen && isWell && status?.orchestration === undefined;
    },
    POLL.timeout,
  );
  // The last word may be from before it began.
  await vi.waitFor(async () => {
    const { strangers, replicas } = await describeEnd();
    expect({ strangers, differing: new Set(replicas).size }).toEqual({ strangers: 0, differing: 1 });
  }, POLL);
}

/** What must be the same, however often the operator died; who is whose primary need not. */
async function describeEnd() {
  const members = await cluster.members();
  const ids = new Set(members.map(({ self }) => self.id));
  const primaries = members.filter(({ self }) => self.role === 'primary');
  const keys = await Promise.all(primaries.map(({ ip }) => call(ip, ['DBSIZE'])));
  const { stdout } = await lab.kubectl(['-n', namespace, 'get', 'sts,svc,cm,secret,sa,pdb,pvc,vcs', '-o', 'name']);
  return {
    pods: (await cluster.pods()).map(({ metadata, spec }) => [metadata.name, spec?.containers.length]),
    slots: primaries.map(({ self }) => self.slots.count).toSorted((a, b) => a - b),
    served: primaries.reduce((sum, { self }) => sum + self.slots.count, 0) === SLOT_COUNT,
    replicas: primaries.map(({ self }) => members.filter((each) => each.self.primaryId === self.id).length),
    strangers: members.flatMap(({ table }) => table).filter(({ id }) => !ids.has(id)).length,
    keys: keys.reduce<number>((sum, count) => sum + Number(count), 0),
    children: stdout.trim().split('\n').toSorted(),
  };
}

function choose(): readonly CrashOperation[] {
  if (WISH === 'all') return operations;
  const name = WISH ?? operations[SEED % operations.length]!.name;
  const found = operations.filter((operation) => operation.name === name);
  if (found.length > 0) return found;
  throw new Error(`CRASH_POINTS is "${name}": give all, or one of ${operations.map((each) => each.name).join('; ')}`);
}

/** Something to lose. */
async function fill(): Promise<void> {
  const primaries = await cluster.primaries();
  for (let index = 0; index < KEYS; index += 1) {
    const key = `key-${index}`;
    const owner = primaries.find(({ self }) => self.slots.has(keySlot(key)));
    await call(owner!.ip, ['SET', key, String(index)]);
  }
}
