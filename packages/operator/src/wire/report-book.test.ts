import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aReport } from '../testing/builders.ts';
import { ReportBook } from './report-book.ts';

const uid = 'demo-0-uid';

describe('a report book', () => {
  test('keeps the newest report of one run, in whatever order they arrive', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(100), { minLength: 1 }), (sequences) => {
        const book = new ReportBook();
        for (const sequence of sequences) {
          book.receive(aReport({ sequence: BigInt(sequence), readiness: { message: String(sequence) } }));
        }
        expect(book.view(uid, false)?.message).toBe(String(Math.max(...sequences)));
      }),
    );
  });

  test('says that a report told nothing new when it has that one or a newer one', () => {
    const book = new ReportBook();
    expect(book.receive(aReport({ sequence: 2n }))).toBe(true);
    expect(book.receive(aReport({ sequence: 2n }))).toBe(false);
    expect(book.receive(aReport({ sequence: 1n }))).toBe(false);
  });

  test('begins anew with a restarted sidecar, and takes nothing of the run before any more', () => {
    const book = new ReportBook();
    book.receive(aReport({ bootId: 'first', sequence: 900n }));
    expect(book.receive(aReport({ bootId: 'second', sequence: 1n, readiness: { message: 'second' } }))).toBe(true);
    expect(book.receive(aReport({ bootId: 'first', sequence: 901n }))).toBe(false);
    expect(book.view(uid, false)?.message).toBe('second');
  });

  test('dates a report by its own clock, and says whether it is live', () => {
    const book = new ReportBook(() => 1234);
    book.receive(aReport());
    expect(book.view(uid, true)).toMatchObject({ receivedAt: 1234, live: true });
    expect(book.view('somebody-else', true)).toBeUndefined();
  });

  test('knows where a pod is by its own account', () => {
    const book = new ReportBook();
    book.receive(aReport());
    expect(book.addressOf(uid)).toBe('10.0.0.1');
    expect(book.addressOf('somebody-else')).toBeUndefined();
  });

  test('forgets the pods of a cluster that are gone, and none of another cluster', () => {
    const book = new ReportBook();
    const pod = { namespace: 'apps', cluster: 'demo', name: 'demo-1', uid: 'demo-1-uid' };
    book.receive(aReport());
    book.receive(aReport({ pod }));
    book.receive(aReport({ pod: { ...pod, cluster: 'other', uid: 'other-uid' } }));
    book.retain('apps', 'demo', new Set(['demo-1-uid']));
    expect([uid, 'demo-1-uid', 'other-uid'].map((each) => book.view(each, false) !== undefined)).toEqual([
      false,
      true,
      true,
    ]);
    book.retain('apps', 'demo', new Set());
    expect(book.size).toBe(1);
  });

  test('has no page for a report of nobody', () => {
    const book = new ReportBook();
    expect(book.receive(aReport({ pod: { uid: '' } }))).toBe(false);
    expect(book.size).toBe(0);
  });
});
