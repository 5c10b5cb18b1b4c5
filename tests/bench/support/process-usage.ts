import { readFileSync } from 'node:fs';

/** The kernel counts processor time in these; the same on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

/** Seconds of processor time that a process has used since it started. */
export function cpuSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The program's name, in brackets, may hold anything; the fields that count come after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user, system] = [fields[11], fields[12]].map(Number) as [number, number];
  return (user + system) / TICKS_PER_SECOND;
}

export interface MemoryUse {
  /** MiB in memory, with the pages of the program itself, which processes of one node share. */
  readonly rss: number;
  /** MiB that are its own. */
  readonly anonymous: number;
}

export function memoryOf(pid: number): MemoryUse {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const read = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024;
  return { rss: read('VmRSS'), anonymous: read('RssAnon') };
}

/** The worst of several. */
export function maxMemory(uses: readonly MemoryUse[]): MemoryUse {
  return {
    rss: Math.max(...uses.map(({ rss }) => rss)),
    anonymous: Math.max(...uses.map(({ anonymous }) => anonymous)),
  };
}
