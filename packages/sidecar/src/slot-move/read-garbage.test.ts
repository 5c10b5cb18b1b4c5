import { expect, it } from 'vitest';
import { ReadGarbage } from './read-garbage.ts';

it('what was read is collected each time that some MiB have gathered', () => {
  let collections = 0;
  const garbage = new ReadGarbage(() => (collections += 1));
  const counts = [4, 3.9, 0.1, 7.9, 32, 7.9].map((mebibytes) => {
    garbage.add(mebibytes * 1024 * 1024);
    return collections;
  });
  expect(counts).toEqual([0, 0, 1, 1, 2, 2]);
});
