import type { RespValue } from '../resp/value.ts';
import { ValkeyError } from '../resp/valkey-error.ts';
import { ConnectionError } from './connection-error.ts';

export interface CallOptions {
  /** Gives up waiting after this time. The command may still be carried out. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /** Bulk strings as Buffers: for keys and values that need not be text. */
  readonly binary?: boolean;
}

/**
 * A command and its promise, from the call to the reply. When the caller gives up after it was sent, it keeps its place
 * in the line, because the reply still comes, but lets go of promise, timer and listener.
 */
export class PendingCommand {
  readonly bytes: Buffer;
  readonly binary: boolean;
  sent = false;
  #waiter: PromiseWithResolvers<RespValue> | undefined;
  #stopWaiting: () => void;

  constructor(
    bytes: Buffer,
    { timeoutMs, signal, binary = false }: CallOptions,
    waiter: PromiseWithResolvers<RespValue>,
  ) {
    this.bytes = bytes;
    this.binary = binary;
    this.#waiter = waiter;
    const onAbort = () => this.fail('aborted', signal?.reason);
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => this.fail('timeout'), timeoutMs);
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#stopWaiting = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    };
  }

  get settled(): boolean {
    return this.#waiter === undefined;
  }

  answer(reply: RespValue): void {
    if (reply instanceof ValkeyError) this.#settle()?.reject(reply);
    else this.#settle()?.resolve(reply);
  }

  fail(code: ConnectionError['code'], cause?: unknown): void {
    this.#settle()?.reject(new ConnectionError(code, this.sent ? 'maybe' : 'no', cause));
  }

  #settle(): PromiseWithResolvers<RespValue> | undefined {
    const waiter = this.#waiter;
    this.#waiter = undefined;
    this.#stopWaiting();
    this.#stopWaiting = () => undefined;
    return waiter;
  }
}
