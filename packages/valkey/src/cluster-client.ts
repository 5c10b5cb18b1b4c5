import { type NodeAddress, parseClusterSlots, type SlotRoute } from './cluster-slots.ts';
import { ConnectionError } from './connection/connection-error.ts';
import type { Connection } from './connection/connection.ts';
import type { CallOptions } from './connection/pending-command.ts';
import type { CommandArgument } from './resp/encoder.ts';
import { type Redirect, ValkeyError } from './resp/valkey-error.ts';
import type { RespValue } from './resp/value.ts';
import { keySlot } from './slots/key-slot.ts';

export interface ClusterClientOptions {
  /** Where to ask for the topology first; any node will do. */
  readonly seeds: readonly NodeAddress[];
  readonly connect: (address: NodeAddress) => Promise<Connection>;
  /** How long one node may take to tell the topology before the next is asked. */
  readonly topologyTimeoutMs: number;
}

const MAX_ATTEMPTS = 5;

/**
 * Sends a command to the node that owns its key. It follows MOVED and ASK, and asks for the topology again when a node
 * is gone. It repeats a command only when that was certainly not executed; every other failure is the caller's to judge.
 */
export class ClusterClient {
  readonly #options: ClusterClientOptions;
  readonly #connections = new Map<string, Promise<Connection>>();
  readonly #owners = new Map<number, NodeAddress>();
  #nodes: readonly NodeAddress[];
  #routes: readonly SlotRoute[] = [];
  #stale = true;
  #refreshing: Promise<void> | undefined;
  #closed = false;

  constructor(options: ClusterClientOptions) {
    this.#options = options;
    this.#nodes = options.seeds;
  }

  /** Slots and their nodes, as last heard. */
  get routes(): readonly SlotRoute[] {
    return this.#routes;
  }

  async call(key: string | Uint8Array, args: readonly CommandArgument[], options?: CallOptions): Promise<RespValue> {
    const slot = keySlot(key);
    let redirect: Redirect | undefined;
    for (let attempt = 1; ; attempt += 1) {
      const target = redirect ?? (await this.#owner(slot));
      try {
        return await this.callNode(target, args, { ...options, asking: redirect?.kind === 'ask' });
      } catch (error) {
        if (attempt === MAX_ATTEMPTS || !this.#mayRepeat(error)) throw error;
        redirect = this.#learnRedirect(error, target);
      }
    }
  }

  /** Sends a command to one node, whatever it owns. `asking` lets it touch a slot that is still on its way there. */
  async callNode(
    address: NodeAddress,
    args: readonly CommandArgument[],
    { asking = false, ...options }: CallOptions & { readonly asking?: boolean } = {},
  ): Promise<RespValue> {
    try {
      const connection = await this.#connection(address);
      if (!asking) return await connection.call(args, options);
      const [, reply] = await Promise.all([connection.call(['ASKING'], options), connection.call(args, options)]);
      return reply;
    } catch (error) {
      if (error instanceof ConnectionError) this.#stale = true;
      throw error;
    }
  }

  /** Asks one node after the other until one tells the topology. Callers who come meanwhile share the answer. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#askForTopology().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  close(): void {
    this.#closed = true;
    for (const connection of this.#connections.values()) {
      void connection.then(
        (open) => open.close(),
        () => undefined,
      );
    }
    this.#connections.clear();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #mayRepeat(error: unknown): boolean {
    if (error instanceof ValkeyError) return error.redirect !== undefined;
    return error instanceof ConnectionError && error.executed === 'no' && error.code !== 'aborted' && !this.#closed;
  }

  #learnRedirect(error: unknown, asked: NodeAddress): Redirect | undefined {
    if (!(error instanceof ValkeyError) || error.redirect === undefined) return undefined;
    const redirect = { ...error.redirect, host: error.redirect.host || asked.host };
    if (redirect.kind === 'moved') {
      // One slot seldom moves alone, and the new owner is the first to know the rest.
      this.#stale = true;
      this.#askFirst(redirect);
    }
    return redirect;
  }

  async #owner(slot: number): Promise<NodeAddress> {
    if (this.#stale) await this.refresh();
    const owner = this.#owners.get(slot) ?? this.#nodes[0];
    if (owner === undefined) throw new ConnectionError('connect-failed', 'no', new Error('no node is known'));
    return owner;
  }

  async #askForTopology(): Promise<void> {
    let failure: unknown;
    for (const node of [...this.#nodes, ...this.#options.seeds]) {
      try {
        const reply = await this.callNode(node, ['CLUSTER', 'SLOTS'], { timeoutMs: this.#options.topologyTimeoutMs });
        this.#adopt(parseClusterSlots(reply), node);
        return;
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  }

  #adopt(routes: readonly SlotRoute[], teller: NodeAddress): void {
    const locate = ({ host, port }: NodeAddress) => ({ host: host || teller.host, port });
    this.#routes = routes;
    this.#owners.clear();
    for (const { slots, primary } of routes) {
      const owner = locate(primary);
      for (const slot of slots) this.#owners.set(slot, owner);
    }
    this.#nodes = routes.flatMap(({ primary, replicas }) => [primary, ...replicas].map(locate));
    this.#askFirst(teller);
    // A node that knows of no slots has not joined yet, or has been reset: ask again next time.
    this.#stale = routes.length === 0;
  }

  #askFirst({ host, port }: NodeAddress): void {
    this.#nodes = [{ host, port }, ...this.#nodes.filter((node) => node.host !== host || node.port !== port)];
  }

  #connection(address: NodeAddress): Promise<Connection> {
    if (this.#closed) return Promise.reject(new ConnectionError('closed', 'no'));
    const name = `${address.host}:${address.port}`;
    const known = this.#connections.get(name);
    if (known !== undefined) return known;
    const opening = this.#options.connect(address);
    const forget = () => {
      if (this.#connections.get(name) === opening) this.#connections.delete(name);
    };
    this.#connections.set(name, opening);
    void opening.then((connection) => connection.ended.then(forget), forget);
    return opening;
  }
}
