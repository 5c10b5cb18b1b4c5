import type { ClusterSnapshot, foreseeInSteps } from '@valkey-operator/core';
import { describe, expect, test } from 'vitest';
import { aCluster, namespace, quietLog, settle } from '../testing/builders.ts';
import { ForesightBook } from './foresight-book.ts';

type StatusPlan = ReturnType<ReturnType<typeof foreseeInSteps>['next']>['value'] & object;

const PLAN: StatusPlan = {
  steps: ['Replace pod demo-0'],
  pods: ['demo-0'],
  podsTouched: 1,
  failovers: 0,
  slotsMoved: 0,
  keysMoved: 0,
  disruptive: true,
};

/** Each forecast takes three steps, and the third may fail. */
function aBook({ fails = false } = {}) {
  const done: string[] = [];
  const foreseen: string[] = [];
  const failures: unknown[] = [];
  const book = new ForesightBook({
    onForeseen: ({ name }) => foreseen.push(name),
    log: { ...quietLog, error: (fields: unknown) => failures.push(fields) },
    *begin({ cluster }) {
      for (let step = 1; step < 3; step += 1) {
        done.push(`${cluster.metadata.name} ${step}`);
        yield;
      }
      if (fails) throw new Error('no model of this');
      return PLAN;
    },
  });
  return { book, done, foreseen, failures };
}

function aSnapshot(name: string): ClusterSnapshot {
  const cluster = aCluster();
  return { cluster: { ...cluster, metadata: { ...cluster.metadata, name } } } as ClusterSnapshot;
}

async function turnsUntil(isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < 20 && !isSo(); turn += 1) await settle();
  expect(isSo()).toBe(true);
}

describe('a forecast', () => {
  test('has one step in a turn of the event loop, however many clusters wait for theirs', async () => {
    const { book, done, foreseen } = aBook();
    expect(['one', 'two'].map((name) => book.foresee(aSnapshot(name), 'basis'))).toEqual([undefined, undefined]);
    expect(done).toEqual([]);
    for (let turn = 1; done.length < 4; turn += 1) {
      await settle();
      expect(done.length).toBeLessThanOrEqual(turn);
      expect(turn).toBeLessThan(20);
    }
    await turnsUntil(() => foreseen.join() === 'one,two');
    expect(book.foresee(aSnapshot('two'), 'basis')).toEqual(PLAN);
    expect(done).toHaveLength(4);
  });

  test('comes to its end though things stand otherwise meanwhile, and counts until there is a newer one', async () => {
    const { book, done, foreseen } = aBook();
    book.foresee(aSnapshot('one'), 'wish-before');
    await turnsUntil(() => done.length === 1);
    expect(book.foresee(aSnapshot('one'), 'wish-after')).toBeUndefined();
    await turnsUntil(() => foreseen.length === 1);
    expect(done).toEqual(['one 1', 'one 2']);
    expect(book.foresee(aSnapshot('one'), 'wish-after')).toEqual(PLAN);
    await turnsUntil(() => foreseen.length === 2);
    expect(done).toEqual(['one 1', 'one 2', 'one 1', 'one 2']);
  });

  test('is begun anew when something else is asked for', async () => {
    const { book, done, foreseen } = aBook();
    book.foresee(aSnapshot('one'), 'before');
    await turnsUntil(() => done.length === 1);
    book.foresee(aSnapshot('one'), 'after');
    await turnsUntil(() => foreseen.join() === 'one');
    expect(done).toEqual(['one 1', 'one 1', 'one 2']);
    expect(book.foresee(aSnapshot('one'), 'after')).toEqual(PLAN);
  });

  test('that fails is not tried again and again', async () => {
    const { book, done, foreseen, failures } = aBook({ fails: true });
    book.foresee(aSnapshot('one'), 'basis');
    await turnsUntil(() => foreseen.join() === 'one');
    expect(book.foresee(aSnapshot('one'), 'basis')).toBeUndefined();
    await settle();
    expect({ done, failures: failures.length }).toEqual({ done: ['one 1', 'one 2'], failures: 1 });
  });

  test.each([
    ['of a cluster that is gone', (book: ForesightBook) => book.forget(`${namespace}/one`)],
    ['of a term that is over', (book: ForesightBook) => book.close()],
  ])('%s goes no further', async (_, end) => {
    const { book, done, foreseen } = aBook();
    book.foresee(aSnapshot('one'), 'basis');
    await turnsUntil(() => done.length === 1);
    end(book);
    for (let turn = 0; turn < 5; turn += 1) await settle();
    expect({ done, foreseen }).toEqual({ done: ['one 1'], foreseen: [] });
  });
});
