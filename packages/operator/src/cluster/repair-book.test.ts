import { expect, test } from 'vitest';
import { RepairBook } from './repair-book.ts';

const MINUTE = 60_000;

test('repairs of a child are counted until it has been left alone for a quarter of an hour', () => {
  let now = 0;
  const book = new RepairBook(() => now);
  book.note('shop/demo', 'Service demo');
  now = 10 * MINUTE;
  book.note('shop/demo', 'Service demo');
  book.note('shop/other', 'Service other');
  now = 20 * MINUTE;
  expect(book.view('shop/demo')).toEqual([{ child: 'Service demo', count: 2, lastAt: 10 * MINUTE }]);
  now = 25 * MINUTE;
  expect(book.view('shop/demo')).toEqual([]);
  book.note('shop/demo', 'Service demo');
  expect(book.view('shop/demo')).toMatchObject([{ count: 1 }]);
});

test('a cluster that is gone is forgotten', () => {
  const book = new RepairBook(() => 0);
  book.note('shop/demo', 'Service demo');
  book.forget('shop/demo');
  expect(book.view('shop/demo')).toEqual([]);
});
