import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

export async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}

/**
 * The checksum of `file` in what its project publishes: `<sha256>  <file>` lines for several files, or one bare checksum. A page
 * of a captive portal holds neither, so it gives undefined.
 */
export function findPublishedSha256(text: string, file: string): string | undefined {
  const lines = text.split('\n').map((line) => /^([0-9a-f]{64})(?:\s+\*?(\S+))?\s*$/.exec(line));
  const named = lines.find((line) => line?.[2]?.split('/').at(-1) === file);
  const bare = lines.find((line) => line && line[2] === undefined);
  return (named ?? bare)?.[1];
}
