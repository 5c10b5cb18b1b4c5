import type { Plan } from '@valkey-operator/core';

type PlannedEvent = Plan['events'][number];

/**
 * Plans are made again and again, and each repeats what still holds. People are told when it begins to hold: an event is
 * passed on unless the plan before had it too.
 */
export class ToldEvents {
  readonly #told = new Map<string, ReadonlySet<string>>();

  /** The events of this plan that the last one did not have. */
  selectNew(key: string, events: readonly PlannedEvent[]): PlannedEvent[] {
    const before = this.#told.get(key);
    const told = new Map(events.map((event) => [`${event.reason} ${event.message}`, event]));
    if (told.size === 0) this.#told.delete(key);
    else this.#told.set(key, new Set(told.keys()));
    return [...told].flatMap(([text, event]) => (before?.has(text) ? [] : [event]));
  }
}
