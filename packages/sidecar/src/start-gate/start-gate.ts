import type { FileHandle } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { SlotSet } from '@valkey-operator/valkey';
import type { Environment } from '../environment.ts';
import { discardData, inspectData, type DataOnDisk } from '../data-directory.ts';
import type { Log } from '../log.ts';
import type { MemoryFiles, Membership } from '../node-memory.ts';
import { readNodeTimeoutMs } from '../node-timeout.ts';
import { CONF_OPENING, renderNodeConf } from '../render-node-conf.ts';
import { readSettings, type NodeSettings } from '../settings.ts';
import {
  decideStart,
  findUnheard,
  isDataElsewhere,
  listRivals,
  type Loan,
  type PeerAnswer,
  type StartDecision,
  type StartReason,
} from './decide.ts';
import { isReaderGone, openWhenRead, releaseOpener, renewFifo } from './fifo.ts';
import { dropImports, giveBack, layOutTable, mendNodesConf } from './nodes-conf.ts';
import type { askPeers } from './peers.ts';
import { hasUnreadableFiles } from './unreadable-files.ts';

export type ReleaseDecision = 'keep-data' | 'discard-data' | 'new-node';

/** Why a Valkey waits. */
export interface GateHold {
  readonly reason: 'replica-may-have-more-data' | 'configuration-invalid';
  readonly message: string;
  readonly since: Date;
  /** When the sidecar will decide by itself. */
  readonly until: Date | undefined;
  readonly previousRole: Membership['role'] | undefined;
}

export interface StartGateOptions {
  readonly paths: { readonly conf: string; readonly data: string; readonly settings: string };
  readonly askPeers: typeof askPeers;
  readonly environment: Environment;
  readonly memory: MemoryFiles;
  readonly log: Log;
  /** A Valkey asks for its configuration. */
  readonly onAsk: () => void;
  /** It has to wait; called again when the reason changes. */
  readonly onHold: (hold: GateHold) => void;
  /** A Valkey has its configuration. */
  readonly onStart: () => void;
}

/** What lets a Valkey start: an order, or that it is safe as things are. */
interface Leave {
  readonly order?: ReleaseDecision;
  readonly reason?: StartReason;
  /** Slots that are not this node's after all. */
  readonly unheard?: readonly Loan[];
}

/** Others may know of a replica that it has got, or of slots that it has not. */
const OPEN_TO_QUESTION: ReadonlySet<StartReason> = new Set(['HasNoReplica', 'NobodyTookOverInTime']);
const RECHECK_MS = 250;
// After the time for a failover only the operator, or a peer that comes back, changes anything.
const SLOW_RECHECK_MS = 2000;
const PATIENCE_MS = 10_000;

/** Stands between every start of Valkey and its configuration. */
export class StartGate {
  readonly #options: StartGateOptions;
  readonly #stop = new AbortController();
  #release: PromiseWithResolvers<ReleaseDecision> | undefined;
  #passed: PromiseWithResolvers<void> | undefined;
  #data: DataOnDisk | undefined;
  /** Stands until a Valkey has started under it: the one that waited may have been ended meanwhile. */
  #order: ReleaseDecision | undefined;

  constructor(options: StartGateOptions) {
    this.#options = options;
  }

  /** What lay in the data directory when Valkey last asked to start. */
  get data(): DataOnDisk | undefined {
    return this.#data;
  }

  async run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      const writer = await openWhenRead(this.#options.paths.conf);
      if (!this.#stop.signal.aborted) await this.#admit(writer);
      await writer.close().catch(() => undefined);
    }
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await releaseOpener(this.#options.paths.conf).catch(() => undefined);
  }

  /** False when no Valkey waits; else resolves when it has been let go. */
  async release(decision: ReleaseDecision): Promise<boolean> {
    if (!this.#release || !this.#passed) return false;
    this.#release.resolve(decision);
    await this.#passed.promise;
    return true;
  }

  async #admit(writer: FileHandle): Promise<void> {
    const { log, memory, environment, onAsk, onStart } = this.#options;
    onAsk();
    this.#passed = Promise.withResolvers();
    this.#passed.promise.catch(() => undefined);
    try {
      await writer.write(CONF_OPENING);
      await renewFifo(this.#options.paths.conf);
      this.#data = await inspectData(this.#options.paths.data);
      const leave = this.#order ? { order: this.#order } : await this.#waitForLeave(this.#data);
      if (leave.order) await this.#obey((this.#order = leave.order));
      else await this.#discardUnreadable(this.#data);
      if (leave.unheard?.length) await this.#giveBack(leave.unheard, this.#data);
      if (leave.reason === 'AnotherPrimaryTookOver') await dropImports(this.#options.paths.data);
      if (this.#isNew(this.#data)) await layOutTable(this.#options.paths.data, environment.pod.name);
      else await mendNodesConf(this.#options.paths.data, environment.valkeyVersion);
      const settings = await this.#waitForSettings(environment);
      await memory.update({ running: settings });
      await memory.save();
      await writer.write(renderNodeConf(settings, environment).rest);
      this.#order = undefined;
      this.#passed.resolve();
      onStart();
    } catch (error) {
      this.#passed.reject(error);
      if (isReaderGone(error)) log.info('a Valkey ended while it waited at the start gate');
      else if (!this.#stop.signal.aborted) throw error;
    }
  }

  /** Resolves when Valkey may start. */
  async #waitForLeave(data: DataOnDisk): Promise<Leave> {
    const { log } = this.#options;
    const last = this.#rememberedMembership(data);
    const since = new Date();
    const until = new Date(since.getTime() + (await this.#failoverTimeMs()));
    using stack = new DisposableStack();
    stack.defer(() => (this.#release = undefined));
    for (let told = ''; ;) {
      const { decision, answers } = await this.#decide(data, last, Date.now() >= until.getTime());
      // By its own table: what it only remembers to have had it does not claim.
      const unheard = data.membership ? findUnheard(data.membership, answers) : [];
      if (decision.start) {
        log.info('Valkey may start', { reason: decision.reason, waitedMs: Date.now() - since.getTime() });
        return { reason: decision.reason, unheard };
      }
      if (told !== decision.message) {
        log.warn('Valkey waits at the start gate', { reason: decision.message, bounded: decision.bounded });
        const hold = { since, until: decision.bounded ? until : undefined, previousRole: last?.role } as const;
        this.#options.onHold({ reason: 'replica-may-have-more-data', message: decision.message, ...hold });
        told = decision.message;
        this.#release ??= Promise.withResolvers();
      }
      const order = await this.#pause(Date.now() < until.getTime() ? RECHECK_MS : SLOW_RECHECK_MS);
      if (order) {
        log.warn('Valkey is let go by command', { decision: order });
        return { order, unheard };
      }
    }
  }

  async #decide(
    data: DataOnDisk,
    last: Membership | undefined,
    boundReached: boolean,
  ): Promise<{ decision: StartDecision; answers: readonly PeerAnswer[] }> {
    const facts = { last, hasSnapshot: data.hasSnapshot, hasAppendOnlyFile: data.hasAppendOnlyFile, boundReached };
    const alone = decideStart({ ...facts, answers: [] });
    if (!last || (alone.start && !OPEN_TO_QUESTION.has(alone.reason))) return { decision: alone, answers: [] };
    const some = await this.#options.askPeers(last.peers);
    const rivals = listRivals(last, some);
    const others = rivals.size > 0 ? await this.#options.askPeers(last.peers.filter(({ id }) => rivals.has(id))) : [];
    const answers = [...some, ...others];
    return { decision: decideStart({ ...facts, answers }), answers };
  }

  /** What came with them is of no use, and a node that has nothing else starts with nothing. */
  async #giveBack(loans: readonly Loan[], data: DataOnDisk): Promise<void> {
    const { log, paths } = this.#options;
    const slots = loans.map((loan) => loan.slots.toString()).join();
    log.warn('nobody has heard of slots that it got last, and their former owner serves them: they stay there', {
      slots,
    });
    await giveBack(paths.data, loans);
    const left = SlotSet.parse(data.membership?.slots ?? '').difference(SlotSet.parse(slots));
    if (left.isEmpty) await discardData(paths.data, { identity: false });
  }

  /** nodes.conf is written by Valkey itself and never older than memory; but memory may know of a replica it lost. */
  #rememberedMembership({ membership }: DataOnDisk): Membership | undefined {
    const { membership: remembered } = this.#options.memory.current;
    if (!membership || membership.nodeId !== remembered?.nodeId) return membership ?? remembered;
    const known = new Set(membership.peers.map(({ id }) => id));
    return { ...membership, peers: [...membership.peers, ...remembered.peers.filter(({ id }) => !known.has(id))] };
  }

  /** It has nothing, and never was anything that it could remember. */
  #isNew(data: DataOnDisk): boolean {
    return !data.hasSnapshot && !data.hasAppendOnlyFile && this.#rememberedMembership(data) === undefined;
  }

  async #obey(order: ReleaseDecision): Promise<void> {
    if (order === 'keep-data') return;
    await discardData(this.#options.paths.data, { identity: order === 'new-node' });
    if (order === 'new-node') await this.#options.memory.forgetMembership();
    this.#data = await inspectData(this.#options.paths.data);
  }

  /** After a downgrade: files that this Valkey cannot read, of a node whose data is elsewhere. It copies it anew. */
  async #discardUnreadable(data: DataOnDisk): Promise<void> {
    const { paths, environment, askPeers: ask, log } = this.#options;
    const last = this.#rememberedMembership(data);
    if (!last || !environment.valkeyVersion || !(await hasUnreadableFiles(paths.data, environment.valkeyVersion)))
      return;
    if (!isDataElsewhere(last, await ask(last.peers))) {
      log.warn('the files are of a newer Valkey, but nobody is known to have the data: they stay');
      return;
    }
    log.warn('the files are of a newer Valkey and are deleted; the data is copied from the primary');
    await this.#obey('discard-data');
  }

  async #waitForSettings(environment: Environment): Promise<NodeSettings> {
    const { log, onHold } = this.#options;
    const since = new Date();
    for (let told = ''; ;) {
      const message = await readSettings(this.#options.paths.settings, environment.pod.name).then((read) => {
        if (!read.ok) return read.message;
        try {
          renderNodeConf(read.value, environment);
          return read.value;
        } catch (error) {
          return error instanceof Error ? error.message : String(error);
        }
      });
      if (typeof message !== 'string') return message;
      if (told !== message) {
        log.error('the settings cannot be used', { reason: message });
        onHold({ reason: 'configuration-invalid', message, since, until: undefined, previousRole: undefined });
        told = message;
      }
      await sleep(RECHECK_MS, undefined, { signal: this.#stop.signal });
    }
  }

  async #failoverTimeMs(): Promise<number> {
    return 3 * (await readNodeTimeoutMs()) + PATIENCE_MS;
  }

  /** An order that came meanwhile ends the pause. */
  async #pause(milliseconds: number): Promise<ReleaseDecision | undefined> {
    const timer = new AbortController();
    const signal = AbortSignal.any([this.#stop.signal, timer.signal]);
    try {
      return await Promise.race([this.#release?.promise, sleep(milliseconds, undefined, { signal })]);
    } finally {
      timer.abort();
    }
  }
}
