import { readFileSync } from 'node:fs';
import { RespDecoder } from '../resp/decoder.ts';
import type { RespValue } from '../resp/value.ts';

/** The versions whose real answers lie here, as 8.0.1, 8.1.1 and 9.1.2 gave them. */
export const recordedVersions = ['8.0', '8.1', '9.1'] as const;

export function readRecordedText(name: string): string {
  return readFileSync(new URL(`${name}.txt`, import.meta.url), 'utf8');
}

export function readRecordedReply(name: string): RespValue {
  const decoder = new RespDecoder();
  decoder.push(readFileSync(new URL(`${name}.resp`, import.meta.url)));
  const reply = decoder.read();
  if (reply === undefined) throw new Error(`${name}.resp is not a whole reply`);
  return reply;
}
