import { deriveEvents, type Look } from './derive-events.ts';
import type { EventOutbox } from './event-outbox.ts';
import type { Log } from './log.ts';
import type { ValkeyWatch } from './valkey-watch.ts';

export interface FollowDependencies {
  readonly watch: ValkeyWatch;
  readonly events: Pick<EventOutbox, 'add'>;
  readonly log: Log;
  readonly isWatched: () => boolean;
}

/** After each look at Valkey: tell the operator what has happened. */
export function followLooks({ watch, events, log, isWatched }: FollowDependencies): void {
  let last: Look = { view: watch.view, facts: watch.facts, isWatched: false };
  watch.subscribe(() => {
    const look = { view: watch.view, facts: watch.facts, isWatched: isWatched() };
    for (const event of deriveEvents(last, look)) {
      log.info('event', { event: event.case, phase: look.view.phase });
      events.add(event);
    }
    last = look;
  });
}
