import { create, toBinary } from '@bufbuild/protobuf';
import { reflect } from '@bufbuild/protobuf/reflect';
import { durationMs, timestampFromDate } from '@bufbuild/protobuf/wkt';

import {
  done,
  failed,
  refused,
  refusedByGuard,
  type CommandKind,
  type CommandOutcome,
  type CommandPayload,
} from './command-outcome.ts';
import {
  CommandResultSchema,
  CommandSchema,
  FailureReason,
  RefusalReason,
  type Command,
  type CommandResult,
  type Guard,
  type GuardMismatch,
} from './gen/valkey/sidecar/v1/command_pb.ts';
import { findUnknownPart } from './unknown-parts.ts';

export interface CommandHandler<K extends CommandKind> {
  /** Carries the command out and returns after its effect. Must come to an end soon after `signal` aborts. */
  run(payload: CommandPayload<K>, context: { command: Command; signal: AbortSignal }): Promise<CommandOutcome | void>;
  /** Others may begin while it runs. Without this a command has the node for itself. */
  readonly concurrent?: boolean;
}

export type CommandHandlers = { readonly [K in CommandKind]?: CommandHandler<K> };

export interface CommandExecutorOptions {
  readonly handlers: CommandHandlers;
  /** The first fact of the guard that does not hold, as Valkey says at this moment. */
  readonly checkGuard: (guard: Guard) => Promise<GuardMismatch | undefined>;
  readonly now?: () => Date;
}

/** What is told of a command beside its outcome. */
interface Course {
  beganAt?: Date;
}

interface Remembered {
  readonly fingerprint: Uint8Array;
  readonly result: Promise<CommandResult>;
  settled: boolean;
}

const MAX_REMEMBERED = 256;

/**
 * Carries out commands so that it does not matter how often, over how many sessions and from which leader they arrive: one id
 * has one effect and one answer. What it remembers ends with the process; from then on the guards stand alone.
 */
export class CommandExecutor {
  readonly #options: CommandExecutorOptions;
  readonly #remembered = new Map<string, Remembered>();
  #lane: Promise<unknown> = Promise.resolve();
  #leaderEpoch = 0n;

  constructor(options: CommandExecutorOptions) {
    this.#options = options;
  }

  /** The highest epoch seen. */
  get leaderEpoch(): bigint {
    return this.#leaderEpoch;
  }

  /** Takes note of a leader; false when it has been replaced by a later one. */
  observeEpoch(epoch: bigint): boolean {
    if (epoch > this.#leaderEpoch) this.#leaderEpoch = epoch;
    return epoch === this.#leaderEpoch;
  }

  async execute(command: Command): Promise<CommandResult> {
    const fingerprint = fingerprintOf(command);
    const known = this.#remembered.get(command.id);
    if (known && Buffer.compare(known.fingerprint, fingerprint) !== 0) {
      return this.#answer(command, refused(RefusalReason.ID_REUSED, 'another command has had this id'));
    }
    if (known) return { ...(await known.result), replayed: true };

    const course: Course = {};
    const result = this.#decide(command, course).then((outcome) => this.#answer(command, outcome, course));
    const entry: Remembered = { fingerprint, result, settled: false };
    this.#remembered.set(command.id, entry);
    await result;
    entry.settled = true;
    this.#forgetOldest();
    return result;
  }

  async #decide(command: Command, course: Course): Promise<CommandOutcome> {
    if (!this.observeEpoch(command.leaderEpoch)) return this.#refuseEpoch(command);
    const unknown = findUnknownPart(reflect(CommandSchema, command));
    if (unknown !== undefined) return refused(RefusalReason.UNSUPPORTED, `this sidecar does not know ${unknown}`);

    const { payload } = command;
    const timeoutMs = command.timeout ? durationMs(command.timeout) : 0;
    if (payload.case === undefined || command.id === '' || timeoutMs <= 0) {
      return refused(RefusalReason.INVALID, 'a command needs an id, a payload and a timeout');
    }
    // The table is typed by kind, but TypeScript cannot follow that handler and payload are of the same one.
    const handler = this.#options.handlers[payload.case] as CommandHandler<CommandKind> | undefined;
    if (!handler) return refused(RefusalReason.UNSUPPORTED, `this sidecar does not carry out ${payload.case}`);
    return this.#runInTurn(command, handler, payload.value, timeoutMs, course);
  }

  /** Commands begin in the order of their arrival; see CommandHandler.concurrent for when the next one may. */
  #runInTurn(
    command: Command,
    handler: CommandHandler<CommandKind>,
    payload: CommandPayload<CommandKind>,
    timeoutMs: number,
    course: Course,
  ): Promise<CommandOutcome> {
    const deadline = new AbortController();
    const { signal } = deadline;

    const begin = async (): Promise<{ outcome: Promise<CommandOutcome> }> => {
      const obstacle = await this.#findObstacle(command, signal);
      if (obstacle) return { outcome: Promise.resolve(obstacle) };
      course.beganAt = this.#now();
      return { outcome: this.#run(handler, payload, command, signal) };
    };
    const turn = this.#lane.then(begin);
    this.#lane = turn.then(({ outcome }) => (handler.concurrent ? undefined : outcome));

    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        deadline.abort();
        resolve(course.beganAt ? failed(FailureReason.TIMED_OUT, 'not finished in time') : REFUSED_BY_DEADLINE);
      }, timeoutMs);
      void turn
        .then(({ outcome }) => outcome)
        .then(resolve)
        .finally(() => clearTimeout(timer));
    });
  }

  /** Asked when its turn has come: while it waited the leader, the node and the time have moved on. */
  async #findObstacle(command: Command, signal: AbortSignal): Promise<CommandOutcome | undefined> {
    if (command.leaderEpoch < this.#leaderEpoch) return this.#refuseEpoch(command);
    if (signal.aborted) return REFUSED_BY_DEADLINE;
    try {
      const mismatch = command.guard && (await this.#options.checkGuard(command.guard));
      if (mismatch) return refusedByGuard(mismatch);
    } catch (error) {
      return failed(FailureReason.VALKEY_UNREACHABLE, `the guard could not be checked: ${messageOf(error)}`, true);
    }
    return signal.aborted ? REFUSED_BY_DEADLINE : undefined;
  }

  async #run(
    handler: CommandHandler<CommandKind>,
    payload: CommandPayload<CommandKind>,
    command: Command,
    signal: AbortSignal,
  ): Promise<CommandOutcome> {
    try {
      return (await handler.run(payload, { command, signal })) ?? done();
    } catch (error) {
      return failed(FailureReason.INTERNAL, messageOf(error));
    }
  }

  #refuseEpoch({ leaderEpoch }: Command): CommandOutcome {
    const message = `leader epoch ${leaderEpoch} has been replaced by ${this.#leaderEpoch}`;
    return refused(RefusalReason.STALE_EPOCH, message, { highestEpoch: this.#leaderEpoch });
  }

  #answer(command: Command, outcome: CommandOutcome, { beganAt }: Course = {}): CommandResult {
    return create(CommandResultSchema, {
      commandId: command.id,
      ...(beganAt && { beganAt: timestampFromDate(beganAt) }),
      finishedAt: timestampFromDate(this.#now()),
      outcome,
    });
  }

  #now(): Date {
    return this.#options.now?.() ?? new Date();
  }

  /** Commands under way are kept whatever their number: they are the ones that must not run twice. */
  #forgetOldest(): void {
    for (const [id, { settled }] of this.#remembered) {
      if (this.#remembered.size <= MAX_REMEMBERED) return;
      if (settled) this.#remembered.delete(id);
    }
  }
}

const REFUSED_BY_DEADLINE = refused(RefusalReason.DEADLINE, 'could not begin in time');

/** What a command orders, without what may differ when it is sent again. */
function fingerprintOf(command: Command): Uint8Array {
  const { id, guard, payload } = command;
  return toBinary(CommandSchema, create(CommandSchema, { id, payload, ...(guard && { guard }) }));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
