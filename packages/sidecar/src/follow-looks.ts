import { deriveEvents, type Look } from './derive-events.ts';
import type { EventOutbox } from './event-outbox.ts';
import type { Log } from './log.ts';
import { describeMembership } from './membership.ts';
import type { MemoryFiles } from './node-memory.ts';
import type { ValkeyWatch } from './valkey-watch.ts';

export interface FollowDependencies {
  readonly watch: ValkeyWatch;
  readonly memory: MemoryFiles;
  readonly events: Pick<EventOutbox, 'add'>;
  readonly log: Log;
}

/** After each look at Valkey: remember its place in the cluster, and tell the operator what has happened. */
export function followLooks({ watch, memory, events, log }: FollowDependencies): void {
  let last: Look = { view: watch.view, facts: watch.facts };
  watch.subscribe(() => {
    const look = { view: watch.view, facts: watch.facts };
    const membership = look.facts?.cluster && describeMembership(look.facts.cluster.nodes);
    if (membership) void memory.update({ membership });
    for (const event of deriveEvents(last, look)) {
      log.info('event', { event: event.case, phase: look.view.phase });
      events.add(event);
    }
    last = look;
  });
}
