import { randomUUID } from 'node:crypto';

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { durationFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, type Client } from '@connectrpc/connect';

import { CommandSchema, type CommandResult, type GuardSchema } from './gen/valkey/sidecar/v1/command_pb.ts';
import type { NodeReport } from './gen/valkey/sidecar/v1/node_report_pb.ts';
import {
  SessionRequestSchema,
  type HelloSchema,
  type SessionRequest,
  type SidecarService,
} from './gen/valkey/sidecar/v1/sidecar_service_pb.ts';
import { MessageQueue } from './message-queue.ts';

export interface SessionOptions {
  readonly hello: MessageInitShape<typeof HelloSchema> & { readonly leaderEpoch: bigint };
  /** Every report, the first one included. */
  readonly onReport?: (report: NodeReport) => void;
}

export interface CommandRequest {
  /** Given to send the same command again after an answer was missed; otherwise made here. */
  readonly id?: string;
  readonly orchestration?: string;
  readonly timeoutMs: number;
  readonly guard: MessageInitShape<typeof GuardSchema>;
  readonly payload: Exclude<MessageInitShape<typeof CommandSchema>['payload'], undefined>;
}

/** No answer came. The command may have been carried out or not: look, or send it again under the same id. */
export class CommandUnanswered extends Error {
  override readonly name = 'CommandUnanswered';
  readonly commandId: string;

  constructor(commandId: string, message: string, cause?: unknown) {
    super(message, { cause });
    this.commandId = commandId;
  }
}

const OPEN_TIMEOUT_MS = 10_000;
// The sidecar answers at the deadline by itself; it gets this much longer for the answer to travel.
const ANSWER_MARGIN_MS = 2000;
const CLOSE_TIMEOUT_MS = 5000;

/** Opens a session; it is open when the first report is here. To open another one after it was lost is up to the caller. */
export async function openSession(
  client: Client<typeof SidecarService>,
  options: SessionOptions,
): Promise<OperatorSession> {
  const session = new OperatorSession(client, options);
  await session.opened;
  return session;
}

export class OperatorSession {
  readonly opened: Promise<void>;
  /** Settles when the session is over, with the error that ended it, if any. */
  readonly over: Promise<ConnectError | undefined>;
  readonly #leaderEpoch: bigint;
  readonly #outbox = new MessageQueue<SessionRequest>();
  readonly #abort = new AbortController();
  readonly #unanswered = new Map<string, PromiseWithResolvers<CommandResult>>();
  #report: NodeReport | undefined;
  #isOver = false;

  constructor(client: Client<typeof SidecarService>, { hello, onReport }: SessionOptions) {
    this.#leaderEpoch = hello.leaderEpoch;
    this.#outbox.push(create(SessionRequestSchema, { message: { case: 'hello', value: hello } }));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.opened = promise;
    const late = setTimeout(() => this.#cut('the sidecar did not answer in time'), OPEN_TIMEOUT_MS);
    this.over = this.#receive(client, (report) => {
      this.#report = report;
      onReport?.(report);
      clearTimeout(late);
      resolve();
    }).then((error) => {
      clearTimeout(late);
      this.#outbox.close();
      this.#isOver = true;
      for (const [id, { reject }] of this.#unanswered) reject(new CommandUnanswered(id, 'the session was lost', error));
      reject(error ?? new ConnectError('the sidecar closed the session', Code.Unavailable));
      return error;
    });
  }

  /** The newest report. */
  get report(): NodeReport | undefined {
    return this.#report;
  }

  /** Resolves with the one answer of the sidecar, also when that is a refusal; rejects only with CommandUnanswered. */
  async send({ id = randomUUID(), timeoutMs, ...request }: CommandRequest): Promise<CommandResult> {
    const sent = this.#unanswered.get(id);
    if (sent) return sent.promise;
    if (this.#isOver) throw new CommandUnanswered(id, 'the session is over');

    const answer = Promise.withResolvers<CommandResult>();
    const late = () => answer.reject(new CommandUnanswered(id, 'no answer in time'));
    const timer = setTimeout(late, timeoutMs + ANSWER_MARGIN_MS);
    this.#unanswered.set(id, answer);
    const timeout = durationFromMs(timeoutMs);
    const value = create(CommandSchema, { ...request, id, timeout, leaderEpoch: this.#leaderEpoch });
    this.#outbox.push(create(SessionRequestSchema, { message: { case: 'command', value } }));
    try {
      return await answer.promise;
    } finally {
      clearTimeout(timer);
      this.#unanswered.delete(id);
    }
  }

  /** Lets commands under way be answered, then ends the session; a sidecar that does not react is cut off. */
  async close(): Promise<void> {
    this.#outbox.close();
    const late = setTimeout(() => this.#cut('the sidecar did not close the session'), CLOSE_TIMEOUT_MS);
    await this.over;
    clearTimeout(late);
  }

  #cut(message: string): void {
    this.#abort.abort(new ConnectError(message, Code.DeadlineExceeded));
  }

  async #receive(
    client: Client<typeof SidecarService>,
    onReport: (report: NodeReport) => void,
  ): Promise<ConnectError | undefined> {
    try {
      for await (const { message } of client.session(this.#outbox, { signal: this.#abort.signal })) {
        if (message.case === 'report') onReport(message.value);
        else if (message.case === 'result') this.#unanswered.get(message.value.commandId)?.resolve(message.value);
      }
      return undefined;
    } catch (error) {
      return ConnectError.from(error);
    }
  }
}
