import type { Socket } from 'node:net';
import { RespDecoder } from '../resp/decoder.ts';
import { type CommandArgument, encodeCommand } from '../resp/encoder.ts';
import { PushMessage, type RespValue } from '../resp/value.ts';
import { ConnectionError } from './connection-error.ts';
import { type CallOptions, PendingCommand } from './pending-command.ts';

/** Answered by push messages alone, so a reply would be waited for in vain, and taken from the next command. */
const withoutReply = /^(p|s)?(un)?subscribe$|^monitor$/i;

/**
 * One connection to one server: commands out, replies in the same order. It ends once and does not come back; whoever
 * wants another makes another. Between commands it holds no timer and no buffer.
 */
export class Connection {
  /** Fulfilled when the connection has ended, with the reason. */
  readonly ended: Promise<ConnectionError>;

  readonly #socket: Socket;
  readonly #decoder = new RespDecoder();
  readonly #onPush: ((message: PushMessage) => void) | undefined;
  readonly #resolveEnded: (reason: ConnectionError) => void;
  #unsent: PendingCommand[] = [];
  readonly #sent: PendingCommand[] = [];
  #end: ConnectionError | undefined;

  constructor(socket: Socket, onPush?: (message: PushMessage) => void) {
    const { promise, resolve } = Promise.withResolvers<ConnectionError>();
    this.ended = promise;
    this.#resolveEnded = resolve;
    this.#socket = socket;
    this.#onPush = onPush;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', (error) => this.#finish('lost', error));
    socket.on('close', () => this.#finish('lost'));
  }

  get isOpen(): boolean {
    return this.#end === undefined;
  }

  /**
   * Sends a command and gives its reply. An error reply rejects with ValkeyError, the lack of one with ConnectionError.
   * Commands called in one tick leave in one write.
   */
  call(args: readonly CommandArgument[], options: CallOptions = {}): Promise<RespValue> {
    if (withoutReply.test(String(args[0])))
      return Promise.reject(new TypeError(`${String(args[0])} has no reply to wait for`));
    const waiter = Promise.withResolvers<RespValue>();
    const command = new PendingCommand(encodeCommand(args), options, waiter);
    if (this.#end !== undefined) command.fail(this.#end.code, this.#end.cause);
    else if (options.signal?.aborted) command.fail('aborted', options.signal.reason);
    else if (this.#unsent.push(command) === 1) process.nextTick(() => this.#flush());
    return waiter.promise;
  }

  /** Ends it at once; whatever waits is rejected. */
  close(): void {
    this.#finish('closed');
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #flush(): void {
    const commands = this.#unsent.filter((command) => !command.settled);
    this.#unsent = [];
    if (commands.length === 0) return;
    this.#socket.cork();
    for (const command of commands) {
      command.sent = true;
      this.#sent.push(command);
      this.#socket.write(command.bytes);
    }
    this.#socket.uncork();
  }

  #receive(chunk: Buffer): void {
    this.#decoder.push(chunk);
    for (let reply = this.#readReply(); reply !== undefined; reply = this.#readReply()) {
      if (reply instanceof PushMessage) this.#onPush?.(reply);
      else this.#answerFirst(reply);
    }
  }

  #readReply(): RespValue | undefined {
    if (this.#end !== undefined) return undefined;
    try {
      return this.#decoder.read(this.#sent[0]?.binary);
    } catch (error) {
      this.#finish('protocol', error);
      return undefined;
    }
  }

  #answerFirst(reply: RespValue): void {
    const command = this.#sent.shift();
    if (command === undefined) this.#finish('protocol', new Error('a reply to no command'));
    else command.answer(reply);
  }

  #finish(code: ConnectionError['code'], cause?: unknown): void {
    if (this.#end !== undefined) return;
    this.#end = new ConnectionError(code, 'maybe', cause);
    this.#socket.destroy();
    for (const command of [...this.#sent, ...this.#unsent]) command.fail(code, cause);
    this.#sent.length = 0;
    this.#unsent = [];
    this.#resolveEnded(this.#end);
  }
}
