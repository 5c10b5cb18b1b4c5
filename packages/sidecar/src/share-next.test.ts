import { expect, it } from 'vitest';
import { shareNext } from './share-next.ts';

/** Runs that end when told, numbered in the order in which they began. */
function controlled() {
  const runs: PromiseWithResolvers<number>[] = [];
  const ask = shareNext(() => {
    runs.push(Promise.withResolvers<number>());
    return runs.at(-1)!.promise;
  });
  const end = (index: number) => runs[index]!.resolve(index);
  return { runs, ask, end };
}

it('gives whoever asks during a run the next one, and that once for all', async () => {
  const { runs, ask, end } = controlled();
  const first = ask();
  const others = [ask(), ask(), ask()];
  expect(runs).toHaveLength(1);
  end(0);
  expect(await first).toBe(0);
  await Promise.resolve();
  end(1);
  expect(await Promise.all(others)).toEqual([1, 1, 1]);
  expect(runs).toHaveLength(2);
});

it('begins at once when nothing is under way', async () => {
  const { runs, ask, end } = controlled();
  const first = ask();
  end(0);
  await first;
  const second = ask();
  expect(runs).toHaveLength(2);
  end(1);
  expect(await second).toBe(1);
});

it('goes on after a run that failed', async () => {
  const { runs, ask, end } = controlled();
  const first = ask();
  const second = ask();
  runs[0]!.reject(new Error('no answer'));
  await expect(first).rejects.toThrow('no answer');
  await Promise.resolve();
  end(1);
  expect(await second).toBe(1);
});
