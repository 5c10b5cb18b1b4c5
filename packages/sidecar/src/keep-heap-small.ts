import { getHeapStatistics } from 'node:v8';

/** Before that a sidecar has more urgent things to do. */
const QUIET_MS = 10_000;
const GROWTH_BYTES = 2 * 1024 * 1024;

export interface Heap {
  readonly usedBytes: () => number;
  readonly collect: () => void;
  readonly nowMs: () => number;
}

/**
 * V8 lets a heap grow by 8 MiB at least before it collects garbage in earnest, whatever its flags say: almost as much as
 * this process holds, and each pod pays for it. So each look at Valkey, which is where garbage comes from, is an occasion to
 * collect what has gathered. It takes some milliseconds, and nothing where nothing happens.
 */
export function keepHeapSmall(heap: Heap = ownHeap): () => void {
  const startedMs = heap.nowMs();
  let kept = 0;
  return () => {
    if (heap.nowMs() - startedMs < QUIET_MS || heap.usedBytes() < kept + GROWTH_BYTES) return;
    heap.collect();
    kept = heap.usedBytes();
  };
}

const ownHeap: Heap = {
  usedBytes: () => getHeapStatistics().used_heap_size,
  // There with --expose-gc, which our image says; elsewhere V8 is left alone.
  collect: () => globalThis.gc?.(),
  // Not performance.now(), for which Node would load more than this saves in its first seconds.
  nowMs: () => Date.now(),
};
