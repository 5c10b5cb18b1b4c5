import { describe, expect, it } from 'vitest';
import { EventOutbox, type EventKind } from './event-outbox.ts';

const started = (runId: string): EventKind => ({ case: 'valkeyStarted', value: { runId } });

describe('events', () => {
  it('arrive in their order, each tried again under the same id until it has arrived', async () => {
    const attempts: string[] = [];
    const pauses: number[] = [];
    const { promise: all, resolve } = Promise.withResolvers<void>();
    const outbox = new EventOutbox({
      deliver: async ({ id, kind }) => {
        attempts.push(id ?? '');
        if (attempts.length <= 2) throw new Error('away');
        if (kind?.case === 'valkeyStarted' && kind.value.runId === 'b') resolve();
      },
      backOff: (failures) => failures,
      sleep: async (ms) => void pauses.push(ms),
    });
    outbox.add(started('a'));
    outbox.add(started('b'));
    await all;
    expect(attempts).toHaveLength(4);
    expect(new Set(attempts.slice(0, 3)).size).toBe(1);
    expect(new Set(attempts).size).toBe(2);
    expect(pauses).toEqual([0, 1]);
  });

  it('do not pile up while the operator is away: the newest are kept', async () => {
    const { promise: never } = Promise.withResolvers<void>();
    const outbox = new EventOutbox({ deliver: () => never, backOff: () => 0 });
    for (let count = 0; count < 100; count += 1) outbox.add(started(String(count)));
    expect(outbox.size).toBe(16);
  });
});
