import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { NodeEventSchema } from '@valkey-operator/rpc';

type EventInit = MessageInitShape<typeof NodeEventSchema>;
export type EventKind = Exclude<EventInit['kind'], undefined | { case: undefined }>;

export interface EventOutboxOptions {
  /** Resolves when the operator has it. */
  readonly deliver: (event: EventInit) => Promise<void>;
  readonly backOff: (failures: number) => number;
  readonly sleep?: (milliseconds: number) => Promise<unknown>;
}

// An event only wakes the operator, which decides on the newest report: what is many and old tells it nothing.
const MAX_WAITING = 16;

/** Delivers events in their order, each until it has arrived, under an id that stays the same. */
export class EventOutbox {
  readonly #options: EventOutboxOptions;
  #waiting: EventInit[] = [];
  #delivering = false;

  constructor(options: EventOutboxOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#waiting.length;
  }

  add(kind: EventKind): void {
    this.#waiting.push({ id: randomUUID(), occurredAt: timestampFromDate(new Date()), kind });
    if (this.#waiting.length > MAX_WAITING) this.#waiting.shift();
    if (!this.#delivering) void this.#deliverAll();
  }

  async #deliverAll(): Promise<void> {
    const pause = this.#options.sleep ?? ((ms: number) => sleep(ms, undefined, { ref: false }));
    this.#delivering = true;
    for (let failures = 0; this.#waiting[0];) {
      const [first] = this.#waiting;
      try {
        await this.#options.deliver(first);
        failures = 0;
        this.#waiting = this.#waiting.filter((event) => event !== first);
      } catch {
        await pause(this.#options.backOff(failures++));
      }
    }
    this.#delivering = false;
  }
}
