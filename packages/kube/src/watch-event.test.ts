import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeWatch, splitLines } from './watch-event.ts';

async function* inPieces(bytes: Uint8Array, cuts: number[]): AsyncGenerator<Uint8Array, void, undefined> {
  let start = 0;
  for (const cut of cuts.map((each) => each % (bytes.length + 1)).toSorted((a, b) => a - b)) {
    yield bytes.subarray(start, cut);
    start = cut;
  }
  yield bytes.subarray(start);
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

describe('a watch stream', () => {
  test('gives the same lines wherever its chunks end, even within a character', async () => {
    const line = fc.string({ unit: 'grapheme' }).map((text) => JSON.stringify(text));
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.array(fc.nat()), async (lines, cuts) => {
        const bytes = Buffer.from(lines.map((each) => `${each}\n`).join(''));
        expect(await collect(splitLines(inPieces(bytes, cuts)))).toEqual(lines);
      }),
    );
  });

  test('drops a last line that was cut off', async () => {
    const stream = inPieces(Buffer.from('{"type":"ADDED","object":{"kind":"A"}}\n{"type":"ADD'), [10]);
    expect(await collect(decodeWatch(stream))).toEqual([{ type: 'ADDED', object: { kind: 'A' } }]);
  });

  test('turns bookmarks into their resourceVersion', async () => {
    const stream = inPieces(Buffer.from('{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"7"}}}\n'), []);
    expect(await collect(decodeWatch(stream))).toEqual([{ type: 'BOOKMARK', resourceVersion: '7' }]);
  });

  test('throws Expired for an ERROR event with code 410', async () => {
    const stream = inPieces(
      Buffer.from('{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}\n'),
      [],
    );
    await expect(collect(decodeWatch(stream))).rejects.toMatchObject({ code: 'Expired', remedy: 'retry' });
  });

  test('throws BadResponse for a line that is not JSON', async () => {
    await expect(collect(decodeWatch(inPieces(Buffer.from('<html>\n'), [])))).rejects.toMatchObject({
      code: 'BadResponse',
    });
  });
});
