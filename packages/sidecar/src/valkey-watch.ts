import { hasFeature, parseVersion, ValkeyError, type RespValue } from '@valkey-operator/valkey';
import { ConnectionError, exponentialBackOff, type Connection } from '@valkey-operator/valkey/connection';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GateHold } from './start-gate/start-gate.ts';
import { askValkey, type NodesConfReader, type ValkeyFacts } from './valkey-facts.ts';

export type ProcessPhase = 'absent' | 'gated' | 'starting' | 'loading' | 'running' | 'unresponsive' | 'exited';

export interface ProcessEnd {
  readonly at: Date;
  readonly reason: 'requested' | 'crashed' | 'never-answered';
  readonly message: string;
}

/** The Valkey of this pod as the sidecar sees it. */
export interface ProcessView {
  readonly phase: ProcessPhase;
  /** When the phase began. */
  readonly since: Date;
  /** While it waits at the start gate. */
  readonly hold: GateHold | undefined;
  readonly startedAt: Date | undefined;
  readonly restarts: number;
  readonly lastEnd: ProcessEnd | undefined;
  /** A replica: its link was up with the data complete since Valkey started. */
  readonly syncedOnce: boolean;
  /** Since when it owes an answer. */
  readonly unansweredSince: Date | undefined;
}

export interface ValkeyWatchOptions {
  readonly connect: (signal: AbortSignal) => Promise<Connection>;
  /** How soon to look again after this look; undefined: not before somebody asks. */
  readonly nextLookMs: (view: ProcessView, facts: ValkeyFacts | undefined, unchangedMs: number) => number | undefined;
  /** What Valkey keeps of its table on disk, for what it does not tell. */
  readonly readNodesConf?: NodesConfReader;
  /** A newly started Valkey answers for the first time. */
  readonly onFirstAnswer: (connection: Connection, facts: ValkeyFacts) => Promise<void>;
}

export class NoValkeyError extends Error {
  override readonly name = 'NoValkeyError';

  constructor(phase: ProcessPhase) {
    super(`Valkey cannot be asked: it is ${phase}`);
  }
}

const ANSWER_TIMEOUT_MS = 2000;
const connectBackOff = exponentialBackOff(20, 2000, Math.random);

/** Keeps the connection to Valkey, knows what state its process is in, and looks at it as often as there is reason to. */
export class ValkeyWatch {
  readonly #options: ValkeyWatchOptions;
  readonly #listeners = new Set<() => void>();
  #connection: Connection | undefined;
  #connecting = new AbortController();
  #view: ProcessView;
  #facts: ValkeyFacts | undefined;
  #changedAt = Date.now();
  #look: Promise<ValkeyFacts> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopRequested = false;
  #asked = false;
  #configured = false;

  constructor(options: ValkeyWatchOptions) {
    this.#options = options;
    const nothing = { hold: undefined, startedAt: undefined, lastEnd: undefined, unansweredSince: undefined };
    this.#view = { phase: 'absent', since: new Date(), restarts: 0, syncedOnce: false, ...nothing };
  }

  get view(): ProcessView {
    return this.#view;
  }

  /** Of the last look; undefined while Valkey does not answer. */
  get facts(): ValkeyFacts | undefined {
    return this.#facts;
  }

  get connection(): Connection {
    if (!this.#connection) throw new NoValkeyError(this.#view.phase);
    return this.#connection;
  }

  async call(...args: string[]): Promise<RespValue> {
    return this.connection.call(args, { timeoutMs: ANSWER_TIMEOUT_MS });
  }

  /** The end that comes next is no accident. */
  set stopRequested(requested: boolean) {
    this.#stopRequested = requested;
  }

  /** Hears of every look that showed something, and of every change of the process. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** After a restart of the sidecar Valkey may be there already. */
  async attach(): Promise<void> {
    const connection = await this.#options.connect(this.#connecting.signal).catch(() => undefined);
    // By now a start may have come in through the gate, which knows better.
    if (connection && this.#view.phase === 'absent') await this.#adopt(connection);
    else connection?.close();
  }

  /** A process asks to start: whatever was there before is gone. */
  noteAsked(): void {
    const { phase } = this.#view;
    if (phase === 'starting' && this.#configured) this.#noteEnd('never-answered', 'it ended before it answered');
    else if (isUp(phase)) this.#noteEnd(this.#stopRequested ? 'requested' : 'crashed', 'it asked to start again');
    this.#dropConnection();
    const restarts = this.#view.restarts + (this.#asked ? 1 : 0);
    this.#asked = true;
    this.#configured = false;
    this.#stopRequested = false;
    this.#enter('starting', { restarts, syncedOnce: false, hold: undefined, startedAt: undefined });
  }

  noteHold(hold: GateHold): void {
    this.#enter('gated', { hold });
  }

  /** It has its configuration and will answer soon. */
  noteStart(): void {
    this.#configured = true;
    this.#enter('starting', { hold: undefined });
    void this.#connectUntilUp(this.#connecting.signal);
  }

  /** Looks now. Errors of Valkey (BUSY, LOADING) reject too, but count as an answer. */
  async refresh(timeoutMs = ANSWER_TIMEOUT_MS): Promise<ValkeyFacts> {
    const { connection } = this;
    if (!this.#view.unansweredSince) this.#view = { ...this.#view, unansweredSince: new Date() };
    try {
      const facts = await askValkey(connection, {
        timeoutMs,
        withMigrations: this.#hasAtomicMigration(),
        ...(this.#options.readNodesConf && { readNodesConf: this.#options.readNodesConf }),
      });
      if (connection === this.#connection) await this.#accept(connection, facts);
      return facts;
    } catch (error) {
      if (connection === this.#connection) this.#noteFailure(error);
      throw error;
    } finally {
      this.#schedule();
    }
  }

  /** The last look, if it is not older than this, else a new one that whoever asks meanwhile shares. */
  async look(maxAgeMs: number, timeoutMs = ANSWER_TIMEOUT_MS): Promise<ValkeyFacts> {
    if (this.#facts && Date.now() - this.#facts.at.getTime() <= maxAgeMs) return this.#facts;
    this.#look ??= this.refresh(timeoutMs).finally(() => (this.#look = undefined));
    return this.#look;
  }

  /** Makes a new guess at when to look again: whoever wants to see more closely has come or gone. */
  reschedule(): void {
    this.#schedule();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#dropConnection();
  }

  async #connectUntilUp(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; failures += 1) {
      const connection = await this.#options.connect(signal).catch(() => undefined);
      if (connection && !signal.aborted) return this.#adopt(connection);
      connection?.close();
      await sleep(connectBackOff(failures), undefined, { signal }).catch(() => undefined);
    }
  }

  async #adopt(connection: Connection): Promise<void> {
    this.#connection = connection;
    void connection.ended.then(() => this.#noteLost(connection));
    if (this.#view.phase !== 'starting') this.#enter('starting', {});
    await this.refresh().catch(() => undefined);
  }

  async #accept(connection: Connection, facts: ValkeyFacts): Promise<void> {
    const { server, replication, persistence } = facts.info;
    const before = this.#facts;
    const link = replication?.primary;
    const isNew = this.#view.startedAt === undefined;
    this.#facts = facts;
    const phase = persistence?.loading || !facts.cluster ? 'loading' : 'running';
    const isSynced = link !== undefined && link.up && !link.syncInProgress;
    this.#view = {
      ...this.#view,
      phase,
      since: this.#view.phase === phase ? this.#view.since : facts.at,
      unansweredSince: undefined,
      startedAt: this.#view.startedAt ?? new Date(facts.at.getTime() - server.uptimeSeconds * 1000),
      syncedOnce: this.#view.syncedOnce || isSynced,
    };
    if (!before || significantly(before) !== significantly(facts)) this.#changedAt = Date.now();
    if (isNew) await this.#options.onFirstAnswer(connection, facts);
    this.#notify();
  }

  #noteFailure(error: unknown): void {
    if (error instanceof ValkeyError) {
      // An error is an answer: a busy script or a long load is not death.
      this.#view = { ...this.#view, unansweredSince: undefined };
      if (error.code === 'LOADING' && this.#view.phase !== 'loading') this.#enter('loading', {});
    } else if (error instanceof ConnectionError && error.code === 'timeout' && this.#view.phase !== 'unresponsive') {
      this.#facts = undefined;
      this.#enter('unresponsive', {});
    }
  }

  /** The connection ended. Somebody may have cut it (CLIENT KILL): only when there is no new one, Valkey has ended. */
  async #noteLost(connection: Connection): Promise<void> {
    if (connection !== this.#connection) return;
    this.#connection = undefined;
    this.#facts = undefined;
    const { signal } = this.#connecting;
    const next = await this.#options.connect(signal).catch(() => undefined);
    if (signal.aborted) return next?.close();
    if (next) return this.#adopt(next);
    this.#noteEnd(this.#stopRequested ? 'requested' : 'crashed', 'its socket was closed');
  }

  #noteEnd(reason: ProcessEnd['reason'], message: string): void {
    this.#facts = undefined;
    const lastEnd = { at: new Date(), reason, message };
    this.#enter('exited', { lastEnd, hold: undefined, startedAt: undefined, unansweredSince: undefined });
  }

  #dropConnection(): void {
    this.#connecting.abort();
    this.#connecting = new AbortController();
    const connection = this.#connection;
    this.#connection = undefined;
    this.#facts = undefined;
    connection?.close();
  }

  #enter(phase: ProcessPhase, change: Partial<ProcessView>): void {
    this.#view = { ...this.#view, ...change, phase, since: new Date() };
    this.#changedAt = Date.now();
    this.#notify();
    this.#schedule();
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    if (!this.#connection) return;
    const wait = this.#options.nextLookMs(this.#view, this.#facts, Date.now() - this.#changedAt);
    if (wait === undefined) return;
    this.#timer = setTimeout(() => void this.look(0).catch(() => undefined), wait);
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }

  #hasAtomicMigration(): boolean {
    const version = parseVersion(this.#facts?.info.server.version ?? '');
    return version !== undefined && hasFeature(version, 'atomicSlotMigration');
  }
}

function isUp(phase: ProcessPhase): boolean {
  return phase === 'loading' || phase === 'running' || phase === 'unresponsive';
}

/** What a change of is worth a second look soon; not offsets and counters, which never rest. */
function significantly({ info, cluster }: ValkeyFacts): string {
  const { replication } = info;
  const nodes = cluster?.nodes.map(({ id, ip, role, primaryId, health, configEpoch, linkConnected, slots }) =>
    [id, ip, role, primaryId, health, configEpoch, linkConnected, slots].join(),
  );
  const migrations = cluster?.migrations.map(({ name, state }) => `${name}=${state}`);
  const link = [replication?.role, replication?.primary?.up, replication?.primary?.syncInProgress];
  return JSON.stringify([
    cluster?.info.state,
    nodes,
    migrations,
    link,
    replication?.replicas.map(({ state }) => state),
  ]);
}
