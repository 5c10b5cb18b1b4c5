import { annotations } from '@valkey-operator/api';
import { expect, test } from 'vitest';
import { RefusalBook } from './refusal-book.ts';

const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'demo', annotations: { [annotations.applied]: 'digest' } },
};

test('what was refused is known with what was wished, until it is taken', () => {
  const book = new RefusalBook(() => 7);
  book.note('shop/demo', service, 'no such port');
  expect(book.view('shop/demo')).toEqual([
    { child: 'Service demo', wish: 'digest', message: 'no such port', lastAt: 7 },
  ]);
  expect(book.view('shop/other')).toEqual([]);
  book.clear('shop/demo', service);
  expect(book.view('shop/demo')).toEqual([]);
});

test('a cluster that is gone is forgotten', () => {
  const book = new RefusalBook(() => 0);
  book.note('shop/demo', service, 'no');
  book.forget('shop/demo');
  expect(book.view('shop/demo')).toEqual([]);
});
