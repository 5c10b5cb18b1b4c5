import { createHash } from 'node:crypto';
import { backoffMs, type Random } from './backoff.ts';
import type { KubeClient } from './client.ts';
import { type Clock, sleep, systemClock } from './clock.ts';
import { isKubeError } from './error.ts';
import { EventBudget } from './event-budget.ts';
import { formatTime } from './micro-time.ts';
import type { Live, ObjectRef } from './object.ts';
import { type Event, events } from './resources.ts';

export interface EventNote {
  type: 'Normal' | 'Warning';
  /** CamelCase, from the one table of reasons. */
  reason: string;
  message: string;
}

export interface EventRecorderOptions {
  client: KubeClient;
  /** Who says it: the pod. */
  instance: string;
  /** Events are an audit trail, so those given up are at least told elsewhere. */
  onDrop?: (note: EventNote, cause: unknown) => void;
  clock?: Clock;
  random?: Random;
}

/** One message about one object: a single Event, however often it is said. */
interface Story {
  about: Live;
  note: EventNote;
  ref: ObjectRef & { namespace: string };
  firstAt: number;
  lastAt: number;
  /** Times said that the server does not know of. */
  unwritten: number;
  /** The server's count, once known. */
  count?: number | undefined;
  /** Monotonic; before it, repeats are only counted. */
  nextWriteAt: number;
}

const COMPONENT = 'valkey-operator';
const REPEAT_MS = 10_000;
const MAX_STORIES = 2_048;
/** The server's own limit. */
const MAX_MESSAGE = 1_024;
const BACKOFF = { baseMs: 1_000, maxMs: 30_000 };

/**
 * Writes core/v1 Events, not events.k8s.io ones: `count` and `lastTimestamp` are what kubectl, Argo CD and most user
 * interfaces show, and the newer kind leaves them empty. The name follows from object and message, so that a restarted
 * operator counts up its predecessor's event instead of adding another.
 */
export class EventRecorder {
  readonly #options: Required<EventRecorderOptions>;
  readonly #budget: EventBudget;
  /** The latest last; the oldest is forgotten for a new one. */
  readonly #stories = new Map<string, Story>();
  readonly #unwritten = new Set<Story>();
  readonly #closing = new AbortController();
  readonly #abandon = new AbortController();
  #writing: Promise<void> | undefined;

  constructor(options: EventRecorderOptions) {
    this.#options = { onDrop: () => {}, clock: systemClock, random: Math.random, ...options };
    this.#budget = new EventBudget(this.#options.clock);
  }

  /** Never throws and never waits. */
  record(about: Live, note: EventNote): void {
    const { clock, onDrop } = this.#options;
    if (this.#closing.signal.aborted) return onDrop(note, 'closed');
    const id = storyId(about, note);
    const known = this.#stories.get(id);
    if (!known && !this.#budget.spend(about.metadata.uid, note.reason))
      return onDrop(note, 'too many of this reason about one object');
    const story = known ?? newStory(about, note, id, clock.now());
    story.about = about;
    story.lastAt = clock.now();
    story.unwritten += 1;
    this.#stories.delete(id);
    this.#stories.set(id, story);
    this.#unwritten.add(story);
    this.#forgetOldest();
    this.#writing ??= this.#write();
  }

  /** Writes what is left, for at most `timeoutMs`. */
  async close(timeoutMs = 3_000): Promise<void> {
    this.#closing.abort();
    const cancel = this.#options.clock.schedule(timeoutMs, () => this.#abandon.abort());
    await this.#writing;
    cancel();
  }

  #forgetOldest(): void {
    if (this.#stories.size <= MAX_STORIES) return;
    const [id, story] = this.#stories.entries().next().value ?? [];
    if (id === undefined || !story) return;
    this.#stories.delete(id);
    if (this.#unwritten.delete(story)) this.#options.onDrop(story.note, 'too many waiting');
  }

  /** One at a time, until nothing is left to write. */
  async #write(): Promise<void> {
    const { clock, random, onDrop } = this.#options;
    let failures = 0;
    for (let story = this.#nextDue(); story; story = this.#nextDue()) {
      const waitMs = story.nextWriteAt - clock.monotonic();
      if (waitMs > 0 && !this.#closing.signal.aborted) {
        await sleep(clock, waitMs, this.#closing.signal);
        continue;
      }
      this.#unwritten.delete(story);
      try {
        await this.#send(story);
        failures = 0;
        story.nextWriteAt = clock.monotonic() + REPEAT_MS;
        if (story.unwritten > 0) this.#unwritten.add(story);
      } catch (error) {
        if (this.#closing.signal.aborted || (isKubeError(error) && error.remedy === 'stop')) {
          story.unwritten = 0;
          onDrop(story.note, error);
          continue;
        }
        this.#unwritten.add(story);
        failures += 1;
        await sleep(clock, backoffMs(failures, BACKOFF, random), this.#closing.signal);
      }
    }
    this.#writing = undefined;
  }

  #nextDue(): Story | undefined {
    let next: Story | undefined;
    for (const story of this.#unwritten) {
      if (!next || story.nextWriteAt < next.nextWriteAt) next = story;
    }
    return next;
  }

  async #send(story: Story): Promise<void> {
    const { client, instance } = this.#options;
    const { unwritten, lastAt } = story;
    const call = { signal: this.#abandon.signal };
    const repeat = (count: number): object => ({
      count,
      lastTimestamp: formatTime(lastAt),
      reportingInstance: instance,
    });
    if (story.count === undefined) {
      const existing = await client.create(events, buildEvent(story, instance), call).catch(async (error: unknown) => {
        if (!isKubeError(error, 'AlreadyExists')) throw error;
        const { count = 1 } = (await client.get(events, story.ref, call)) ?? { count: 0 };
        return client.mergePatch(events, story.ref, repeat(count + unwritten), call);
      });
      story.count = existing.count;
    } else {
      story.count += unwritten;
      await client.mergePatch(events, story.ref, repeat(story.count), call).catch((error: unknown) => {
        // Events live for an hour; the next try makes it anew. Any other failure: the count is asked for again.
        story.count = undefined;
        throw error;
      });
    }
    story.unwritten -= unwritten;
  }
}

function storyId({ metadata }: Live, { type, reason, message }: EventNote): string {
  return createHash('sha256')
    .update(JSON.stringify([metadata.uid, type, reason, message]))
    .digest('hex')
    .slice(0, 16);
}

function newStory(about: Live, note: EventNote, id: string, now: number): Story {
  const { name, namespace = 'default' } = about.metadata;
  const ref = { namespace, name: `${name.slice(0, 200).replace(/[.-]+$/, '')}.${id}` };
  return { about, note, ref, firstAt: now, lastAt: now, unwritten: 0, nextWriteAt: -Infinity };
}

function buildEvent({ about, note, ref, unwritten, firstAt, lastAt }: Story, instance: string): Event {
  const { name, namespace, uid, resourceVersion } = about.metadata;
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: ref,
    involvedObject: { apiVersion: about.apiVersion, kind: about.kind, namespace, name, uid, resourceVersion },
    type: note.type,
    reason: note.reason,
    message: note.message.slice(0, MAX_MESSAGE),
    count: unwritten,
    firstTimestamp: formatTime(firstAt),
    lastTimestamp: formatTime(lastAt),
    source: { component: COMPONENT },
    reportingComponent: COMPONENT,
    reportingInstance: instance,
  };
}
