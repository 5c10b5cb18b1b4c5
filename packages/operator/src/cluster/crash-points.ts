import { writeSync } from 'node:fs';
import { annotations, type ValkeyCluster } from '@valkey-operator/api';
import type { Action, Plan } from '@valkey-operator/core';

type Moment = 'before' | 'after';

/** Told before and after every write and every command, by name. */
export type Checkpoint = (moment: Moment, point: string, cluster: ValkeyCluster) => void;

export const noCheckpoint: Checkpoint = () => {};

/** Each kind of object that tells how things stand is written by itself, and any of the writes may be the last. */
export type StatusWrite = `WriteStatus ${'ValkeyCluster' | 'ValkeyClusterStatus' | 'ValkeyUpgrade'}`;

/** What a write or a command is called wherever it occurs: `ScaleOut/CommandNode moveSlots`. */
export function namePoint({ status }: Pick<Plan, 'status'>, action: Action | StatusWrite): string {
  const kind = status.orchestration?.kind ?? 'Upkeep';
  if (typeof action === 'string') return `${kind}/${action}`;
  if (action.type === 'CommandNode') return `${kind}/${action.type} ${action.command.do}`;
  if (action.type === 'ApplyChild') return `${kind}/${action.type} ${action.object.kind}`;
  return `${kind}/${action.type}`;
}

/**
 * For tests, and only with --crash-points: the process ends itself, as a crash would, at the first of the points that an
 * annotation of the cluster names, each as `<point>/<before|after>`, with semicolons between them.
 */
export function createCrashPoints(crash: (moment: Moment, point: string) => void): Checkpoint {
  return (moment, point, { metadata }) => {
    const wanted = metadata.annotations?.[annotations.crashAt]?.split(';') ?? [];
    if (wanted.includes(`${point}/${moment}`)) crash(moment, point);
  };
}

/** Past the logger, which would not come to write it any more. */
export function crashLoudly(moment: Moment, point: string): void {
  const line = { level: 'warn', time: new Date().toISOString(), point, moment, msg: 'crash point' };
  writeSync(process.stdout.fd, `${JSON.stringify(line)}\n`);
  process.kill(process.pid, 'SIGKILL');
}
