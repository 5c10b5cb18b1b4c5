import { create, type MessageInitShape } from '@bufbuild/protobuf';

import {
  DoneSchema,
  FailureSchema,
  RefusalReason,
  RefusalSchema,
  type Command,
  type CommandResult,
  type FailureReason,
  type GuardMismatch,
} from './gen/valkey/sidecar/v1/command_pb.ts';

export type CommandKind = NonNullable<Command['payload']['case']>;
export type CommandPayload<K extends CommandKind> = Extract<Command['payload'], { case: K }>['value'];

/** What became of a command: done, refused (nothing has happened) or failed (something may have). */
export type CommandOutcome = Exclude<CommandResult['outcome'], { case: undefined }>;

export function done(init: MessageInitShape<typeof DoneSchema> = {}): CommandOutcome {
  return { case: 'done', value: create(DoneSchema, init) };
}

export function refused(
  reason: RefusalReason,
  message: string,
  detail: Pick<MessageInitShape<typeof RefusalSchema>, 'guard' | 'highestEpoch'> = {},
): CommandOutcome {
  return { case: 'refusal', value: create(RefusalSchema, { reason, message, ...detail }) };
}

export function refusedByGuard(guard: GuardMismatch): CommandOutcome {
  const message = `${guard.fact} is ${guard.actual || 'not set'}, the command was made for ${guard.expected || 'none'}`;
  return refused(RefusalReason.GUARD, message, { guard });
}

export function failed(reason: FailureReason, message: string, noEffect?: boolean): CommandOutcome {
  return {
    case: 'failure',
    value: create(FailureSchema, { reason, message, ...(noEffect !== undefined && { noEffect }) }),
  };
}
