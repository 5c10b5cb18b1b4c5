import { writeSync } from 'node:fs';
import { annotations, type ValkeyCluster } from '@valkey-operator/api';
import type { Action, Plan } from '@valkey-operator/core';

type Moment = 'before' | 'after';

/** Told before and after every write and every command, by name. */
export type Checkpoint = (moment: Moment, point: string, cluster: ValkeyCluster) => void;

export const noCheckpoint: Checkpoint = () => {};

/** Each kind of object that tells how things stand is written by itself, and any of the writes may be the last. */
export type StatusWrite = `WriteStatus ${string}`;

/**
 * What a write or a command is called wherever it occurs: `ScaleOut/CommandNode moveSlots`. The status that tells of an end is
 * another write than those before: `ScaleOut/WriteStatus ValkeyCluster, ended`.
 */
export function namePoint({ status, ended }: Pick<Plan, 'status' | 'ended'>, action: Action | StatusWrite): string {
  const kind = status.orchestration?.kind ?? 'Upkeep';
  const over = ended?.[0]?.kind;
  if (typeof action === 'string') return over ? `${over}/${action}, ended` : `${kind}/${action}`;
  if (action.type === 'CommandNode') return `${kind}/${action.type} ${action.command.do}`;
  if (action.type === 'ApplyChild') return `${kind}/${action.type} ${action.object.kind}`;
  return `${kind}/${action.type}`;
}

/** What becomes of a process at its points. */
export interface Fate {
  readonly crash: (moment: Moment, point: string) => void;
  /** It has got beyond this one. */
  readonly pass: (point: string) => void;
}

/**
 * For tests, and only with --crash-points: the process ends itself, as a crash would, at the first of the points that an
 * annotation of the cluster names, each as `<point>/<before|after>`, with semicolons between them.
 */
export function createCrashPoints({ crash, pass }: Fate): Checkpoint {
  return (moment, point, { metadata }) => {
    const wanted = metadata.annotations?.[annotations.crashAt]?.split(';') ?? [];
    if (wanted.includes(`${point}/${moment}`)) crash(moment, point);
    else if (moment === 'after') pass(point);
  };
}

export const loudFate: Fate = {
  crash: (moment, point) => {
    say({ level: 'warn', point, moment, msg: 'crash point' });
    process.kill(process.pid, 'SIGKILL');
  },
  pass: (point) => say({ level: 'info', point, msg: 'point passed' }),
};

/** Past the logger, which would not come to write it any more. */
function say(line: object): void {
  writeSync(process.stdout.fd, `${JSON.stringify({ time: new Date().toISOString(), ...line })}\n`);
}
