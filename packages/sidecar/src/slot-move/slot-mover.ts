import { setTimeout as sleep } from 'node:timers/promises';
import { type ClusterNode, expectText, parseClusterNodes, SlotSet, ValkeyError } from '@valkey-operator/valkey';
import { exponentialBackOff, type Connection } from '@valkey-operator/valkey/connection';
import { bringFunctions } from './bring-functions.ts';
import { countKeys, sumKeys } from './count-keys.ts';
import { KeptKeys } from './kept-keys.ts';
import { moveAtomically } from './move-atomically.ts';
import { moveByKey } from './move-by-key.ts';
import { MoveFailed, type MoveOrder } from './move.ts';

/** How far the last move is, as reports tell it. */
export interface MoveProgress {
  readonly state: 'running' | 'done' | 'failed' | 'cancelled';
  readonly targetId: string;
  /** Still to be moved. */
  readonly slots: SlotSet;
  readonly movedSlots: number;
  readonly movedKeys: number;
  readonly leftKeys: number;
  readonly elapsedMs: number;
  /** Since its end. */
  readonly overForMs?: number;
  /** By the clock of this process, like the looks at Valkey. */
  readonly endedAt?: number;
  /** In a row, to this target. */
  readonly failures: number;
  /** Why the last attempt failed; until one succeeds. */
  readonly message: string;
  readonly notableKeys: readonly string[];
}

export interface SlotMoverOptions {
  readonly openSource: () => Promise<Connection>;
  readonly openTarget: (target: MoveOrder['target']) => Promise<Connection>;
  /** Something has ended that whoever watches should hear of at once. */
  readonly onEnd: () => void;
}

const MAX_NOTABLE_KEYS = 10;
const retryDelayMs = exponentialBackOff(1000, 60_000, () => 1);
const ways = { atomic: moveAtomically, 'by-key': moveByKey };

/**
 * Moves slots away from the Valkey of this pod, one order at a time. An order given again after a failure waits first, the
 * longer the more have failed. What it knows ends with the process: slots left open then are for the operator to find.
 */
export class SlotMover {
  readonly #options: SlotMoverOptions;
  #progress: MoveProgress | undefined;
  #startedAt = 0;
  #overSince = 0;
  #endedAt = 0;
  /** Across orders: the one that failed because its target died does not bring them to the next. */
  readonly #kept = new KeptKeys();
  /** Targets that have the functions that they need. */
  readonly #equipped = new Set<string>();
  /** Notable keys of this attempt. */
  readonly #named = new Set<string>();
  #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: SlotMoverOptions) {
    this.#options = options;
  }

  get progress(): MoveProgress | undefined {
    const progress = this.#progress;
    const now = Date.now();
    return progress?.state === 'running'
      ? { ...progress, elapsedMs: now - this.#startedAt }
      : progress && { ...progress, overForMs: now - this.#overSince, endedAt: this.#endedAt };
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  begin(order: MoveOrder, sourceId: string): void {
    const before = this.#progress;
    const failures = before?.state === 'failed' && before.targetId === order.target.nodeId ? before.failures : 0;
    this.#stop = new AbortController();
    this.#startedAt = Date.now();
    this.#named.clear();
    this.#progress = {
      state: 'running',
      targetId: order.target.nodeId,
      slots: order.slots,
      movedSlots: 0,
      movedKeys: 0,
      leftKeys: 0,
      elapsedMs: 0,
      failures,
      message: failures > 0 ? (before?.message ?? '') : '',
      notableKeys: failures > 0 ? (before?.notableKeys ?? []) : [],
    };
    this.#running = this.#run(order, sourceId, failures).finally(() => {
      this.#running = undefined;
      this.#options.onEnd();
    });
  }

  /** After a slot was closed, because the other end is gone for good. */
  async bringBack(slot: number): Promise<void> {
    using source = await this.#options.openSource();
    await this.#kept.bringBack(source, slot);
  }

  /** Resolves when nothing moves any more. */
  async cancel(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(order: MoveOrder, sourceId: string, failures: number): Promise<void> {
    const { signal: cancelled } = this.#stop;
    try {
      if (failures > 0) await sleep(retryDelayMs(failures - 1), undefined, { signal: cancelled });
      this.#startedAt = Date.now();
      const stop = AbortSignal.any([cancelled, AbortSignal.timeout(order.timeLimitMs)]);
      await this.#move(order, sourceId, { stop, cancelled });
      this.#end(cancelled.aborted ? 'cancelled' : 'done', '', 0);
    } catch (error) {
      if (cancelled.aborted) this.#end('cancelled', '', failures);
      else this.#end('failed', describeError(error), failures + 1);
    }
  }

  async #move(
    order: MoveOrder,
    sourceId: string,
    signals: { stop: AbortSignal; cancelled: AbortSignal },
  ): Promise<void> {
    const { openSource, openTarget } = this.#options;
    using source = await openSource();
    const nodes = parseClusterNodes(expectText(await source.call(['CLUSTER', 'NODES'])));
    assertAlive(nodes, order.target.nodeId);
    this.#kept.retain(findOnTheirWay(nodes));
    if (!this.#equipped.has(order.target.nodeId)) await bringFunctions(source, () => openTarget(order.target));
    this.#equipped.add(order.target.nodeId);
    const keys = await countKeys(source, order.slots);
    this.#update({ leftKeys: sumKeys(keys, order.slots) });
    const tools = {
      order,
      sourceId,
      ...signals,
      source,
      openSource,
      openTarget: () => openTarget(order.target),
      kept: this.#kept,
      onMoved: (slots: SlotSet, count: number) => this.#note(slots, count, sumKeys(keys, slots)),
      onNotableKey: (text: string) => this.#name(text),
    };
    await ways[order.method](tools, keys);
  }

  #note(slots: SlotSet, moved: number, counted: number): void {
    const progress = this.#progress;
    if (!progress) return;
    this.#update({
      slots: progress.slots.difference(slots),
      movedSlots: progress.movedSlots + slots.count,
      movedKeys: progress.movedKeys + moved,
      leftKeys: Math.max(0, progress.leftKeys - counted),
    });
  }

  /** Those of the attempt before are told until this one has ended. */
  #name(key: string): void {
    this.#named.add(key);
    const told = new Set([...(this.#progress?.notableKeys ?? []), key]);
    this.#update({ notableKeys: [...told].slice(-MAX_NOTABLE_KEYS) });
  }

  #end(state: 'done' | 'failed' | 'cancelled', message: string, failures: number): void {
    this.#endedAt = performance.now();
    this.#overSince = Date.now();
    const notableKeys = [...this.#named].slice(-MAX_NOTABLE_KEYS);
    this.#update({ state, message, failures, notableKeys, elapsedMs: this.#overSince - this.#startedAt });
  }

  #update(change: Partial<MoveProgress>): void {
    if (this.#progress) this.#progress = { ...this.#progress, ...change };
  }
}

/** A replica may be about to take over from a node that is missed, and could not bring what that one gets from now on. */
function assertAlive(nodes: readonly ClusterNode[], nodeId: string): void {
  const isMissed = nodes.some(({ id, health }) => id === nodeId && health !== 'ok');
  if (isMissed) throw new MoveFailed('the node that shall get the slots is taken for failed');
}

/** Its own slots of which some keys have left. */
function findOnTheirWay(nodes: readonly ClusterNode[]): SlotSet {
  const { openSlots = [], slots = SlotSet.empty } = nodes.find(({ myself }) => myself) ?? {};
  const leaving = openSlots.filter(({ direction }) => direction === 'migrating');
  return SlotSet.ofSlots(leaving.map(({ slot }) => slot)).intersection(slots);
}

function describeError(error: unknown): string {
  if (error instanceof MoveFailed) return error.message;
  if (error instanceof ValkeyError) return `Valkey says: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}
