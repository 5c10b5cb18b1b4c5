import { backoffMs, type Random } from './backoff.ts';
import { type Clock, sleep } from './clock.ts';
import { Deadline } from './deadline.ts';
import { errorFromStatus, KubeError, type Status } from './error.ts';
import { readBody, type Transport, type TransportRequest, type TransportResponse } from './transport.ts';

/** One finished request, for the metrics. */
export interface CallRecord {
  verb: string;
  /** `pods`, `statefulsets/status`: never a name, so that it may be a label. */
  resource: string;
  /** HTTP status, or 0 when none came. */
  code: number;
  ms: number;
}

export interface CallOptions {
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
}

export interface ApiCall extends Omit<TransportRequest, 'signal'>, CallOptions {
  verb: string;
  resource: string;
  /** For eviction 429 is an answer (a disruption budget says no), not a request to slow down. */
  throttled?: 'wait' | 'throw';
}

interface ApiCallerParts {
  transport: Transport;
  clock: Clock;
  random: Random;
  onCall: ((call: CallRecord) => void) | undefined;
  timeoutMs: number;
}

const MAX_THROTTLED = 5;
const THROTTLE_BACKOFF = { baseMs: 1_000, maxMs: 10_000 };

/** Sends calls with a deadline, waits when the server says so, counts them and turns every failure into a KubeError. */
export class ApiCaller {
  readonly #parts: ApiCallerParts;

  constructor(parts: ApiCallerParts) {
    this.#parts = parts;
  }

  /** One call to its end; the deadline covers waiting for a throttling server too. */
  async call<T>(call: ApiCall): Promise<T> {
    const deadline = this.#deadline(call);
    try {
      for (let throttled = 1; ; throttled += 1) {
        const response = await this.#send(call, deadline.signal);
        const text = await readBody(response.body);
        if (response.status < 300) return parseJson(text, response.status) as T;
        const error = errorFromStatus(parseStatus(text), response.status, response.retryAfterMs);
        if (error.code !== 'TooManyRequests' || call.throttled === 'throw' || throttled > MAX_THROTTLED) throw error;
        const { clock, random } = this.#parts;
        // Jitter on top of what the server asks, or all it turned away come back in the same second.
        const wait = (error.retryAfterMs ?? 0) + backoffMs(throttled, THROTTLE_BACKOFF, random);
        await sleep(clock, wait, deadline.signal);
      }
    } catch (error) {
      throw deadline.explain(error);
    } finally {
      deadline.clear();
    }
  }

  /** The body of a response that goes on for longer than the deadline, which covers only the wait for its start. */
  async *stream(call: ApiCall): AsyncGenerator<Uint8Array, void, undefined> {
    const deadline = this.#deadline(call);
    try {
      const response = await this.#send(call, deadline.signal);
      if (response.status >= 300) {
        throw errorFromStatus(parseStatus(await readBody(response.body)), response.status, response.retryAfterMs);
      }
      deadline.stopTimer();
      yield* response.body;
    } catch (error) {
      throw deadline.explain(error);
    } finally {
      deadline.clear();
    }
  }

  async #send(call: ApiCall, signal: AbortSignal): Promise<TransportResponse> {
    const { transport, clock, onCall } = this.#parts;
    const { method, path, contentType, body, verb, resource } = call;
    const started = clock.monotonic();
    let code = 0;
    try {
      signal.throwIfAborted();
      const response = await transport({ method, path, contentType, body, signal });
      code = response.status;
      return response;
    } finally {
      onCall?.({ verb, resource, code, ms: clock.monotonic() - started });
    }
  }

  #deadline(call: ApiCall): Deadline {
    return new Deadline(this.#parts.clock, call.timeoutMs ?? this.#parts.timeoutMs, call);
  }
}

function parseJson(text: string, status: number): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new KubeError('BadResponse', `HTTP ${status} with a body that is not JSON`, { status, cause });
  }
}

/** Proxies and overloaded servers answer with plain text or HTML: then that is the message. */
function parseStatus(text: string): Status {
  try {
    const status: (Status & { kind?: string }) | null = JSON.parse(text);
    if (status?.kind === 'Status') return status;
  } catch {
    // Falls through to the text.
  }
  return { message: text.slice(0, 200) || undefined };
}
