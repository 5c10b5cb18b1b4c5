import { setTimeout as sleep } from 'node:timers/promises';
import { keySlot, type NodeAddress, type RespValue, ValkeyError } from '@valkey-operator/valkey';
import { connect, type Connection } from '@valkey-operator/valkey/connection';
import { classifyFailure } from './classify-failure.ts';
import { type Assurance, KeyHistory } from './key-history.ts';
import type { ShardRecord } from './shard-record.ts';
import type { Topology } from './topology.ts';

export interface WriterOptions {
  readonly name: string;
  readonly topology: Topology;
  readonly record: ShardRecord;
  /** Hash tags of the shard, one per key; they never run out. */
  readonly tags: Iterator<string, never>;
  readonly keys: number;
  readonly pauseMs: number;
  /** Replicas that WAIT asks for; 0: no WAIT. */
  readonly replicas: number;
}

const CONNECT_MS = 500;
const REPLY_MS = 1000;
const WAIT_MS = 1000;
const RETRY_MS = 10;
const MAX_REDIRECTS = 5;

/** A key and what it must hold. */
export interface WrittenKey {
  readonly name: string;
  readonly slot: number;
  readonly history: KeyHistory;
}

/**
 * Writes to the keys of one shard, one write at a time, over a connection of its own: a WAIT vouches only for what was
 * written before it on the same connection, and it holds up whatever comes after.
 */
export class Writer {
  readonly #options: WriterOptions;
  readonly #keys: WrittenKey[] = [];
  #link: { readonly host: string; readonly port: number; readonly connection: Connection } | undefined;

  /** All keys that were ever written, also those that ended with an unknown outcome. */
  readonly everything: WrittenKey[] = [];

  constructor(options: WriterOptions) {
    this.#options = options;
    for (let index = 0; index < options.keys; index += 1) this.#keys.push(this.#newKey());
  }

  async run(signal: AbortSignal): Promise<void> {
    for (let turn = 0; !signal.aborted; turn += 1) {
      const index = turn % this.#keys.length;
      const key = this.#keys[index]!;
      const written = await this.#tryWrite(key);
      if (!key.history.open) this.#keys[index] = this.#newKey();
      await sleep(written ? this.#options.pauseMs : RETRY_MS);
    }
    this.#link?.connection.close();
  }

  async #tryWrite(key: WrittenKey): Promise<boolean> {
    const { topology, record } = this.#options;
    const outcome = await this.#write(key).catch(classifyFailure);
    if ('assurance' in outcome) {
      record.acknowledged(outcome.assurance);
      record.lost(key.name, key.history.acknowledge(outcome.before, outcome.assurance));
      return true;
    }
    record.failed(outcome.kind, outcome.executed);
    if (outcome.executed === 'maybe') key.history.leaveUncertain();
    topology.refresh();
    return false;
  }

  async #write({ name: key, slot, history }: WrittenKey): Promise<{ before: number; assurance: Assurance }> {
    const { topology, name, record } = this.#options;
    let target = topology.owner(slot);
    let asking = false;
    for (let redirects = 0; ; redirects += 1) {
      const connection = await this.#connection(target);
      const write = ['SET', key, `${name}:${history.next}`, 'GET'];
      try {
        // One tick, one connection, so that nothing can come between them.
        const asked = asking ? connection.call(['ASKING'], { timeoutMs: REPLY_MS }).catch(() => {}) : undefined;
        const reply = connection.call(write, { timeoutMs: REPLY_MS });
        const waited = this.#wait(connection);
        const before = readSequence(await reply, name);
        record.answered(performance.now());
        await asked;
        return { before, assurance: (await waited) ? 'waited' : 'plain' };
      } catch (error) {
        if (!(error instanceof ValkeyError) || !error.redirect || redirects === MAX_REDIRECTS) {
          this.#dropLink();
          throw error;
        }
        const { kind, host, port } = error.redirect;
        asking = kind === 'ask';
        target = { host: host || target!.host, port };
        if (!asking) topology.learn(slot, target);
      }
    }
  }

  async #wait(connection: Connection): Promise<boolean> {
    const { replicas } = this.#options;
    if (replicas === 0) return false;
    const options = { timeoutMs: WAIT_MS + REPLY_MS };
    // Without an answer the write stands as acknowledged by its primary alone.
    const confirmed = await connection.call(['WAIT', `${replicas}`, `${WAIT_MS}`], options).catch(() => 0);
    return typeof confirmed === 'number' && confirmed >= replicas;
  }

  async #connection(target: NodeAddress | undefined): Promise<Connection> {
    if (!target) throw new ValkeyError('NOOWNER no node is known to own the slot');
    const { host, port } = target;
    if (this.#link?.connection.isOpen && this.#link.host === host && this.#link.port === port)
      return this.#link.connection;
    this.#dropLink();
    const connection = await connect({ address: { host, port }, timeoutMs: CONNECT_MS });
    this.#link = { host, port, connection };
    return connection;
  }

  #dropLink(): void {
    this.#link?.connection.close();
    this.#link = undefined;
  }

  #newKey(): WrittenKey {
    const { value: tag } = this.#options.tags.next();
    const name = `load:${this.#options.name}:{${tag}}`;
    const key = { name, slot: keySlot(name), history: new KeyHistory() };
    this.everything.push(key);
    return key;
  }
}

/** Which write of this writer left the value: 0 for no value, NaN for one that is not its own. */
export function readSequence(value: RespValue, writer: string): number {
  if (value === null) return 0;
  const [author, sequence] = typeof value === 'string' ? value.split(':') : [];
  return author === writer ? Number(sequence) : Number.NaN;
}
