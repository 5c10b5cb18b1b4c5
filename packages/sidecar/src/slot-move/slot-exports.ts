import { setTimeout as sleep } from 'node:timers/promises';
import {
  expectText,
  parseClusterNodes,
  parseSlotMigrations,
  type RespValue,
  type SlotMigration,
  SlotSet,
} from '@valkey-operator/valkey';
import type { Connection } from '@valkey-operator/valkey/connection';
import { MoveFailed } from './move.ts';

/** How often to ask, by what waits for the end of a range. Valkey and whoever asks share the processors. */
const POLL_MS = { next: 20, 'room in the queue': 50, nothing: 100 };
type Waiting = keyof typeof POLL_MS;
/** Migrations of which no state and no backlog has changed for so long are stuck: a frozen target would hold them for ever. */
const STUCK_MS = 20_000;
/** What was granted to the target it takes within a moment, if ever; Valkey itself waits for two seconds. */
const HANDOVER_MS = 2500;
const SOON_MS = 10;

export interface EndedExport {
  readonly slots: SlotSet;
  /** For how long the source has served nobody. */
  readonly pausedMs: number;
}

/** Ranges of slots that this Valkey is giving away as a whole, and what it says of them. */
export class SlotExports {
  readonly #ask: Call;
  readonly #targetId: string;
  readonly #before: ReadonlySet<string>;
  /** By range: since when writes to it wait. */
  readonly #running = new Map<SlotSet, number | undefined>();

  private constructor(ask: Call, targetId: string, before: ReadonlySet<string>) {
    this.#ask = ask;
    this.#targetId = targetId;
    this.#before = before;
  }

  static async open(source: Connection, targetId: string): Promise<SlotExports> {
    const ask = asking(source, STUCK_MS);
    const before = await readMigrations(ask);
    return new SlotExports(ask, targetId, new Set(before.map(({ name }) => name)));
  }

  get size(): number {
    return this.#running.size;
  }

  async begin(slots: SlotSet): Promise<void> {
    const ranges = slots.ranges.flatMap(([first, last]) => [String(first), String(last)]);
    await this.#ask('CLUSTER', 'MIGRATESLOTS', 'SLOTSRANGE', ...ranges, 'NODE', this.#targetId);
    this.#running.set(slots, undefined);
  }

  /** All of them: Valkey cannot be told to end a certain one. */
  async cancel(): Promise<void> {
    await cancelExports(this.#ask);
  }

  /**
   * What has become of those that were broken off: the target may have taken them all the same, of which this Valkey hears a moment
   * later. Whoever believed it until then could take the target away with them.
   */
  async settle(openTarget: () => Promise<Connection>): Promise<void> {
    const names = new Set((await this.#read()).flatMap(([, migration]) => migration?.name ?? []));
    using target = await openTarget();
    const askTarget = asking(target, HANDOVER_MS);
    for (const since = Date.now(); Date.now() - since < HANDOVER_MS; await sleep(SOON_MS)) {
      const told = await readMigrations(askTarget);
      const imports = told.filter(({ name, operation }) => operation === 'import' && names.has(name));
      const taken = imports.filter(({ outcome }) => outcome === 'success');
      const arrived = taken.reduce((all, { slots }) => all.union(slots), SlotSet.empty);
      const isOver = imports.every(({ outcome }) => outcome !== 'running');
      if (isOver && (await this.#ownSlots()).intersection(arrived).isEmpty) return;
    }
  }

  async #ownSlots(): Promise<SlotSet> {
    const nodes = parseClusterNodes(expectText(await this.#ask('CLUSTER', 'NODES')));
    return nodes.find(({ myself }) => myself)?.slots ?? SlotSet.empty;
  }

  /** The first that has arrived. */
  async whenOneEnds(waiting: Waiting): Promise<EndedExport> {
    let changed = { signs: '', at: Date.now() };
    for (;;) {
      const askedAt = Date.now();
      const told = await this.#read();
      for (const [slots, migration] of told) {
        if (migration?.state.startsWith('failover')) this.#running.set(slots, this.#running.get(slots) ?? askedAt);
        if (migration?.outcome === 'success') return this.#end(slots, askedAt);
      }
      const failed = told.find(([, migration]) => migration && migration.outcome !== 'running')?.[1];
      if (failed) return this.#fail(describe(failed));
      const signs = told.map(([, migration]) => `${migration?.state} ${migration?.remainingBytes}`).join();
      if (signs !== changed.signs) changed = { signs, at: Date.now() };
      if (Date.now() - changed.at > STUCK_MS) {
        const stuck = told[0]?.[1];
        const seen = stuck ? describe(stuck) : 'the migration is not listed';
        return this.#fail(`${seen}: no progress for ${STUCK_MS / 1000} s`);
      }
      await sleep(POLL_MS[waiting]);
    }
  }

  async #read(): Promise<[SlotSet, SlotMigration | undefined][]> {
    const migrations = await readMigrations(this.#ask);
    const mine = migrations.filter(({ name, operation }) => operation === 'export' && !this.#before.has(name));
    const find = (slots: SlotSet) => mine.find((each) => each.slots.toString() === slots.toString());
    return Array.from(this.#running.keys(), (slots) => [slots, find(slots)]);
  }

  /** Before it answers, the source deletes what it has given away, and nobody is served meanwhile. */
  #end(slots: SlotSet, askedAt: number): EndedExport {
    const pausedAt = this.#running.get(slots) ?? askedAt;
    this.#running.delete(slots);
    return { slots, pausedMs: Date.now() - pausedAt };
  }

  async #fail(why: string): Promise<never> {
    // Should that fail, it is not what went wrong.
    await this.cancel().catch(() => undefined);
    throw new MoveFailed(why);
  }
}

type Call = (...words: string[]) => Promise<RespValue>;

function asking(connection: Connection, timeoutMs: number): Call {
  return (...words) => connection.call(words, { timeoutMs });
}

async function readMigrations(call: Call): Promise<SlotMigration[]> {
  return parseSlotMigrations(await call('CLUSTER', 'GETSLOTMIGRATIONS'));
}

/**
 * Valkey would also end one that it has granted to its target: it would serve those slots again, and lose them to the target a
 * moment later, with whatever was written meanwhile. So that comes to its end first, whichever.
 */
export async function cancelExports(call: Call): Promise<void> {
  const listRunning = async () =>
    (await readMigrations(call)).filter(({ operation, outcome }) => operation === 'export' && outcome === 'running');
  let running = await listRunning();
  const since = Date.now();
  while (running.some(({ state }) => state.startsWith('failover')) && Date.now() - since < HANDOVER_MS) {
    await sleep(SOON_MS);
    running = await listRunning();
  }
  if (running.length > 0) await call('CLUSTER', 'CANCELSLOTMIGRATIONS');
}

function describe({ slots, state, message }: SlotMigration): string {
  return `the migration of slots ${slots.toString()} is at "${state}"${message && ` (${message})`}`;
}
