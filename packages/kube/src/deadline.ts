import type { Clock } from './clock.ts';
import { KubeError } from './error.ts';

interface LimitedCall {
  verb: string;
  resource: string;
  signal?: AbortSignal | undefined;
}

/** The caller's signal and a time limit in one signal, which remembers which of the two it was. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #call: LimitedCall;
  readonly #ms: number;
  readonly #forward = (): void => this.#controller.abort(this.#call.signal?.reason);
  #passed = false;
  stopTimer: () => void;

  constructor(clock: Clock, ms: number, call: LimitedCall) {
    this.#call = call;
    this.#ms = ms;
    this.stopTimer = clock.schedule(ms, () => {
      this.#passed = true;
      this.#controller.abort();
    });
    // By hand and not with AbortSignal.any: callers' signals live as long as the process, their listeners must not.
    if (call.signal?.aborted) this.#forward();
    else call.signal?.addEventListener('abort', this.#forward);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  explain(error: unknown): unknown {
    if (error instanceof KubeError) return error;
    const what = `${this.#call.verb} ${this.#call.resource}`;
    if (this.#passed) return new KubeError('Timeout', `${what}: no answer within ${this.#ms} ms`);
    if (this.#call.signal?.aborted) return this.#call.signal.reason;
    return new KubeError('Unreachable', `${what}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }

  clear(): void {
    this.stopTimer();
    this.#call.signal?.removeEventListener('abort', this.#forward);
  }
}
