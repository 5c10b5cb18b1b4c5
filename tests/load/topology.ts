import { setTimeout as sleep } from 'node:timers/promises';
import {
  expectText,
  type NodeAddress,
  parseClusterNodes,
  parseClusterSlots,
  type SlotRoute,
} from '@valkey-operator/valkey';
import { connect, type Connection } from '@valkey-operator/valkey/connection';

const ANSWER_MS = 500;
const PAUSE_MS = 50;
const PATIENCE_MS = 30_000;

/**
 * Who owns which slot, shared by all writers of a load and refreshed behind their backs. All known nodes are asked at once
 * and the first answer counts, so that a dead node delays nobody and one shard's outage is not felt in another: that is
 * what the gaps are measured for, and why this is not the product's own client.
 */
export class Topology {
  readonly #connections = new Map<string, Promise<Connection>>();
  readonly #findSeeds: () => Promise<readonly NodeAddress[]>;
  readonly #owners: NodeAddress[] = [];
  #nodes: readonly NodeAddress[] = [];
  #asking = false;

  constructor(findSeeds: () => Promise<readonly NodeAddress[]>) {
    this.#findSeeds = findSeeds;
  }

  owner(slot: number): NodeAddress | undefined {
    return this.#owners[slot];
  }

  /** A redirect is newer than all we know. */
  learn(slot: number, owner: NodeAddress): void {
    this.#owners[slot] = owner;
    this.refresh();
  }

  /** Starts to ask, unless that is under way already. */
  refresh(): void {
    if (this.#asking) return;
    this.#asking = true;
    void this.#askAll()
      .then(() => sleep(PAUSE_MS))
      .finally(() => (this.#asking = false));
  }

  /**
   * The first look: what every node that knows of slots says, because one that was just attached is not known to all yet.
   * By CLUSTER NODES, because from 8.0 on CLUSTER SLOTS is cached and may show a replica where it was. A busy machine may
   * need more than one try.
   */
  async load(): Promise<readonly (readonly SlotRoute[])[]> {
    for (const deadline = performance.now() + PATIENCE_MS; ; await sleep(PAUSE_MS)) {
      const answers = await Promise.allSettled((await this.#findSeeds()).map((node) => this.#askForTable(node)));
      const views = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
      if (views[0]) {
        this.#adopt(views[0]);
        return views;
      }
      if (performance.now() > deadline) throw new Error('no node of the cluster knows of slots');
    }
  }

  close(): void {
    for (const opening of this.#connections.values())
      void opening.then((connection) => connection.close()).catch(() => {});
    this.#connections.clear();
  }

  async #askAll(): Promise<void> {
    try {
      this.#adopt(await this.#askOne(this.#nodes));
    } catch {
      // Nobody we knew answers: the pods may be others by now.
      await this.#findSeeds()
        .then((seeds) => this.#askOne(seeds))
        .then((routes) => this.#adopt(routes))
        .catch(() => {});
    }
  }

  #askOne(nodes: readonly NodeAddress[]): Promise<readonly SlotRoute[]> {
    return Promise.any(nodes.map((node) => this.#ask(node)));
  }

  async #ask(node: NodeAddress): Promise<readonly SlotRoute[]> {
    const connection = await this.#connection(node);
    const routes = parseClusterSlots(await connection.call(['CLUSTER', 'SLOTS'], { timeoutMs: ANSWER_MS }));
    if (routes.length === 0) throw new Error(`${node.host} knows of no slots`);
    const locate = <T extends NodeAddress>(address: T): T => ({ ...address, host: address.host || node.host });
    return routes.map((route) => ({ ...route, primary: locate(route.primary), replicas: route.replicas.map(locate) }));
  }

  async #askForTable(node: NodeAddress): Promise<readonly SlotRoute[]> {
    const connection = await this.#connection(node);
    const table = parseClusterNodes(expectText(await connection.call(['CLUSTER', 'NODES'], { timeoutMs: ANSWER_MS })));
    const locate = ({ id, ip, port }: (typeof table)[number]) => ({ id, port, host: ip || node.host });
    const owners = table.filter(({ slots }) => !slots.isEmpty);
    if (owners.length === 0) throw new Error(`${node.host} knows of no slots`);
    return owners.map((primary) => ({
      slots: primary.slots,
      primary: locate(primary),
      replicas: table.filter(({ primaryId, health }) => primaryId === primary.id && health === 'ok').map(locate),
    }));
  }

  #adopt(routes: readonly SlotRoute[]): void {
    for (const { slots, primary } of routes) for (const slot of slots) this.#owners[slot] = primary;
    this.#nodes = routes.flatMap(({ primary, replicas }) => [primary, ...replicas]);
  }

  #connection({ host, port }: NodeAddress): Promise<Connection> {
    const name = `${host}:${port}`;
    const known = this.#connections.get(name);
    if (known) return known;
    const opening = connect({ address: { host, port }, timeoutMs: ANSWER_MS });
    const forget = () => this.#connections.delete(name);
    this.#connections.set(name, opening);
    void opening.then((connection) => connection.ended.then(forget), forget);
    return opening;
  }
}
