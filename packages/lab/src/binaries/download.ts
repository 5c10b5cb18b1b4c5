import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

const ANSWER_MS = 5_000;
const STALL_MS = 30_000;

/** A host that does not answer, or not with the file: the reason to try another way. */
export class Unavailable extends Error {}

/** Write what `url` serves to `path`. Gives up soon when nobody answers, and later when the stream stalls, but never on a slow line. */
export async function download(
  url: string,
  path: string,
  onBytes: (done: number, total: number) => void,
): Promise<void> {
  await get(url, async (response, alive) => {
    const total = Number(response.headers.get('content-length') ?? 0);
    let done = 0;
    const count = async function* (chunks: AsyncIterable<Uint8Array>) {
      for await (const chunk of chunks) {
        alive();
        onBytes((done += chunk.length), total);
        yield chunk;
      }
    };
    await pipeline(Readable.fromWeb(response.body!), count, createWriteStream(path));
  });
}

export function downloadText(url: string): Promise<string> {
  return get(url, (response) => response.text());
}

async function get<T>(url: string, read: (response: Response, alive: () => void) => Promise<T>): Promise<T> {
  const abort = new AbortController();
  const giveUp = (ms: number) =>
    setTimeout(() => abort.abort(new Unavailable(`${url}: no data for ${ms / 1000} s`)), ms);
  let timer = giveUp(ANSWER_MS);
  const alive = () => {
    clearTimeout(timer);
    timer = giveUp(STALL_MS);
  };
  try {
    const response = await fetch(url, { signal: abort.signal });
    if (!response.ok) throw new Unavailable(`${url}: HTTP ${response.status}`);
    alive();
    return await read(response, alive);
  } catch (error) {
    throw asUnavailable(url, error);
  } finally {
    clearTimeout(timer);
  }
}

/** fetch hides why it failed in `cause`; an error of the file being written is ours and stays as it is. */
function asUnavailable(url: string, error: unknown): unknown {
  if (error instanceof Unavailable || (error as NodeJS.ErrnoException).syscall === 'write') return error;
  const cause = (error as Error).cause as NodeJS.ErrnoException | undefined;
  return new Unavailable(
    `${new URL(url).host} cannot be reached (${cause?.code ?? cause?.message ?? (error as Error).message})`,
    {
      cause: error,
    },
  );
}
