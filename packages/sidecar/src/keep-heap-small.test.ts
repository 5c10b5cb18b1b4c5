import { expect, it } from 'vitest';
import { keepHeapSmall } from './keep-heap-small.ts';

const MEBIBYTE = 1024 * 1024;

function aHeap() {
  const heap = {
    now: 0,
    used: 10 * MEBIBYTE,
    collections: 0,
    nowMs: () => heap.now,
    usedBytes: () => heap.used,
    collect: () => {
      heap.collections += 1;
      heap.used = 9 * MEBIBYTE;
    },
  };
  return heap;
}

it('garbage is collected when some has gathered, and not before', () => {
  const heap = aHeap();
  const look = keepHeapSmall(heap);
  heap.now = 10_000;
  look();
  expect(heap.collections).toBe(1);
  heap.used = 10.9 * MEBIBYTE;
  look();
  expect(heap.collections).toBe(1);
  heap.used = 11 * MEBIBYTE;
  look();
  expect(heap.collections).toBe(2);
});

it('nothing is collected while everything starts', () => {
  const heap = aHeap();
  const look = keepHeapSmall(heap);
  heap.now = 9999;
  look();
  expect(heap.collections).toBe(0);
});
