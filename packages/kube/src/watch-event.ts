import { errorFromStatus, KubeError, type Status } from './error.ts';
import type { KubeObject, Live } from './object.ts';

export type WatchEvent<T extends KubeObject> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: Live<T> }
  /** No change: everything up to this resourceVersion has been seen. */
  | { type: 'BOOKMARK'; resourceVersion: string };

const LINE_FEED = 0x0a;

/** Cuts a byte stream into lines, wherever its chunks end: in a line, or within a character. */
export async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  // Pieces of an unfinished line are kept apart and joined once: a large object arrives in many chunks.
  let pieces: Uint8Array[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      pieces.push(chunk.subarray(start, end));
      yield Buffer.concat(pieces).toString('utf8');
      pieces = [];
      start = end + 1;
    }
    if (start < chunk.length) pieces.push(chunk.subarray(start));
  }
  // What is left was cut off by the end of the connection; the next watch gets it again.
}

/** The events of a watch. An ERROR event (410 after compaction, above all) is thrown. */
export async function* decodeWatch<T extends KubeObject>(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<WatchEvent<T>, void, undefined> {
  for await (const line of splitLines(chunks)) {
    const event = parseEvent<T>(line);
    if (event.type === 'ERROR') throw errorFromStatus(event.object, 500);
    yield event.type === 'BOOKMARK'
      ? { type: 'BOOKMARK', resourceVersion: event.object.metadata.resourceVersion }
      : { type: event.type, object: event.object };
  }
}

type RawEvent<T extends KubeObject> =
  | { type: 'ADDED' | 'MODIFIED' | 'DELETED'; object: Live<T> }
  | { type: 'BOOKMARK'; object: { metadata: { resourceVersion: string } } }
  | { type: 'ERROR'; object: Status };

function parseEvent<T extends KubeObject>(line: string): RawEvent<T> {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new KubeError('BadResponse', 'a watch event that is not JSON', { cause });
  }
}
