import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { annotations } from '@valkey-operator/api';
import { isKubeError } from '@valkey-operator/kube';
import { Lab } from '@valkey-operator/lab';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createRandom } from '../support/seeded-random.ts';
import { layIn } from '../support/stock.ts';
import { createRestrictedNamespace, TestCluster } from '../support/test-cluster.ts';
import { describeEnd, whenSettled } from './support/crash-end.ts';
import { CrashOperator } from './support/crash-operator.ts';
import { type CrashOperation, listOperations } from './support/crash-operations.ts';
import { CrashSpec, type Spec, usualSize } from './support/crash-spec.ts';
import { CrashTargets } from './support/crash-targets.ts';
import { watchChurn } from './support/pod-churn.ts';

/**
 * The operator is killed before and after every write and command of every operation, and those that follow it leave what
 * an undisturbed one leaves, and make and delete no more pods and volumes than that (I3). First an undisturbed run, after a rehearsal, tells which points there are; then runs are
 * killed at each of them as they come along, until none is left. `make crash-points` does all; otherwise a few of one
 * operation, another one every day. SEED repeats a choice, CRASH_POINTS names an operation or is `all`.
 */
const WISH = process.env['CRASH_POINTS'];
const SEED = Number(process.env['SEED'] ?? Math.floor(Date.now() / 86_400_000));
const SAMPLE = 6;
const KEYS = 100;
/** Runs that hit nothing new: what is left then is not reached. Some points are there only when a node is slower than a look. */
const PATIENCE = 4;
const POLL = { timeout: 180_000, interval: 250 };
const RESULT = resolve(import.meta.dirname, '../../.lab/crash-points');

const namespace = 'crash-points';
const lab = Lab.open(inject('lab'));
const { client } = await lab.api();
const cluster = new TestCluster(lab, client, namespace, 'brittle');
const operator = new CrashOperator(lab, client);
const spec = new CrashSpec(cluster);
const operations = listOperations(cluster, spec);
const chosen = choose();
const results: CrashTargets[] = [];

beforeAll(async () => {
  await lab.kubectl(['delete', 'namespace', namespace, '--ignore-not-found']);
  await createRestrictedNamespace(lab, namespace);
  await operator.arm();
  // Whoever comes to it by scaling out has the last shard on the last pods, each time.
  const [first] = chosen;
  if (first?.from) await settleAt({ ...first.from, ...usualSize });
});
afterAll(async () => {
  const sum = (count: (targets: CrashTargets) => number) => results.reduce((all, targets) => all + count(targets), 0);
  mkdirSync(dirname(RESULT), { recursive: true });
  writeFileSync(RESULT, `crash-points ${sum(({ hits }) => hits)} of ${sum(({ total }) => total)}\n`);
  await operator.disarm();
  await lab.kubectl(['delete', 'namespace', namespace, '--wait=false']);
});

describe(`an operator that is killed at any point (SEED=${SEED})`, () => {
  test.for(chosen.map((operation) => [operation.name, operation] as const))(
    'of %s is followed by one that leaves what an undisturbed one leaves',
    { retry: 0, timeout: 1_800_000 },
    async ([name, operation]) => {
      // The first time roles may lie as they never will again, which has points of its own.
      if (operation.from) await runOnce(operation, 0, async () => ({}));
      const { end, churn, passed } = await runUndisturbed(operation, 1);
      const back = operation.alternates ? await runUndisturbed(operation, 2) : { passed: [] };
      const targets = new CrashTargets(operation, mostOften(passed, back.passed));
      if (WISH === undefined) targets.sample(SAMPLE, createRandom(SEED));
      results.push(targets);
      let idle = 0;
      let run = operation.alternates ? 3 : 2;
      for (; !targets.isDone && idle < PATIENCE; run += 1) {
        const hits = targets.hits;
        const killed = await runKilled(operation, run, targets);
        await expect.poll(() => describeEnd(cluster), POLL).toEqual(end);
        expect(killed.churn).toEqual(churn);
        idle = targets.hits === hits ? idle + 1 : 0;
        console.error(`${name}, run ${run}: ${targets.hits} of ${targets.total} points`);
      }
      if (targets.isDone) return;
      // Two, because an upgrade leads back the second time.
      const others = [await runUndisturbed(operation, run), await runUndisturbed(operation, run + 1)];
      const given = targets.giveUp(others.map((other) => other.passed));
      if (given.length > 0) console.error(`${name}: no undisturbed run passes again ${given.join(', ')}`);
      expect(targets.missed).toEqual([]);
    },
  );
});

async function runUndisturbed(operation: CrashOperation, run: number) {
  const passed: string[] = [];
  const outcome = await runOnce(operation, run, async () => {
    await operator.follow(({ event, point }) => void (event === 'passed' && passed.push(point)));
    return {};
  });
  return { ...outcome, passed };
}

/** Every point as often as in the one of the two that passed it more often. */
function mostOften(some: readonly string[], others: readonly string[]): string[] {
  const count = (all: readonly string[], point: string) => all.filter((each) => each === point).length;
  const points = [...new Set([...some, ...others])];
  return points.flatMap((point) => Array(Math.max(count(some, point), count(others, point))).fill(point) as string[]);
}

async function runOnce(
  { from, prepare, begin, isDone }: CrashOperation,
  run: number,
  arm: () => Promise<Record<string, string>>,
) {
  if (from) await settleAt(from);
  await prepare?.();
  const annotations = await arm();
  const churn = await watchChurn(cluster, async () => {
    await begin(run, annotations);
    await expect.poll(() => isDone(run), POLL).toBe(true);
    await whenSettled(cluster);
  });
  return { end: await describeEnd(cluster), churn };
}

/** With something to lose. */
async function settleAt(from: Spec): Promise<void> {
  await spec.change(from);
  await whenSettled(cluster);
  await layIn(await cluster.primaries(), KEYS);
}

/** The annotation follows what is left to hit. */
async function runKilled(operation: CrashOperation, run: number, targets: CrashTargets) {
  let aimed: string | null = null;
  let writing = Promise.resolve();
  const aim = (text: string | null) => {
    if (text !== aimed) writing = writing.then(() => annotate(text));
    aimed = text;
    return writing;
  };
  const arm = async () => {
    await operator.follow((line) => {
      targets.note(line);
      void aim(targets.text);
    });
    await aim(targets.text);
    return { [annotations.crashAt]: targets.text };
  };
  const outcome = await runOnce(operation, run, arm);
  operator.unfollow();
  await aim(null);
  return outcome;
}

/** If it exists: one that is yet to be created has the annotation from the start. */
async function annotate(text: string | null): Promise<void> {
  try {
    await cluster.annotate({ [annotations.crashAt]: text });
  } catch (error) {
    if (!isKubeError(error, 'NotFound')) throw error;
  }
}

function choose(): readonly CrashOperation[] {
  if (WISH === 'all') return operations;
  const name = WISH ?? operations[SEED % operations.length]!.name;
  const found = operations.filter((operation) => operation.name === name);
  if (found.length > 0) return found;
  throw new Error(`CRASH_POINTS is "${name}": give all, or one of ${operations.map((each) => each.name).join('; ')}`);
}
