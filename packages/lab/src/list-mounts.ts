import { readFileSync } from 'node:fs';

/** The mount points that this process sees, in the order in which they were made. */
export function listMounts(): string[] {
  const lines = readFileSync('/proc/self/mountinfo', 'utf8').trimEnd().split('\n');
  return lines.map((line) => line.split(' ')[4] ?? '');
}
