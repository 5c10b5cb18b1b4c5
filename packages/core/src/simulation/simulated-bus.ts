import { SlotSet } from '@valkey-operator/valkey';
import { hear, type Line, type SimulatedNode } from './simulated-node.ts';
import { isRunning, type RunningPod, type SimulatedPod } from './simulated-pod.ts';

/** What the talks of a node have in common. There are as many as pairs of nodes, so in none of them is anybody searched for. */
interface Round {
  readonly byAddress: ReadonlyMap<string, RunningPod>;
  /** Of whom the node could hear something new from others. */
  readonly missed: Set<string>;
}

/** What Valkey nodes do among themselves, without an operator: links, gossip, votes, replication. */
export class SimulatedBus {
  readonly #pods: readonly SimulatedPod[];
  /** Nodes of another cluster, by id, and where they answer. */
  readonly foreign = new Map<string, string>();

  constructor(pods: readonly SimulatedPod[]) {
    this.#pods = pods;
  }

  get running(): RunningPod[] {
    return this.#pods.filter(isRunning);
  }

  get nodes(): SimulatedNode[] {
    return this.running.map(({ node }) => node);
  }

  findAt(ip: string): RunningPod | undefined {
    return this.running.find((pod) => pod.ip === ip);
  }

  /** One round in which every node talks to everyone it knows. */
  gossip(now: number): void {
    const { running } = this;
    // Where several were given one address, the first has it.
    const byAddress = new Map(running.toReversed().map((pod) => [pod.ip, pod]));
    for (const pod of running) {
      for (const [id, until] of pod.node.bans) if (until <= now) pod.node.bans.delete(id);
      const missed = listMissed(pod.node, running);
      for (const line of Array.from(pod.node.table.values())) this.#talk(pod, line, { byAddress, missed });
    }
    this.#separateEpochs();
  }

  introduce(node: SimulatedNode, peer: RunningPod): void {
    const { id, epoch, primaryId } = peer.node;
    if (node.bans.has(id) || node.id === id) return;
    const known = node.table.get(id);
    if (known) known.ip = peer.ip;
    else {
      const { hostname } = peer;
      const line: Line = {
        id,
        epoch,
        primaryId,
        ip: peer.ip,
        hostname,
        slots: SlotSet.empty,
        connected: true,
        failing: 'no',
      };
      node.table.set(id, line);
    }
    hear(node, peer.node);
  }

  /** Of the replicas that a majority would vote for, the one with most data. */
  elect(): void {
    const [best] = this.nodes
      .filter(({ role, syncedOnce }) => role === 'replica' && syncedOnce)
      .filter(({ table, primaryId }) => table.get(primaryId ?? '')?.failing === 'agreed')
      .filter((node) => this.#agree(node, () => true))
      .toSorted((a, b) => b.offset - a.offset);
    if (best) this.promote(best);
  }

  promote(node: SimulatedNode): void {
    const line = node.table.get(node.primaryId ?? '');
    node.role = 'primary';
    node.slots = line?.slots ?? SlotSet.empty;
    node.epoch = this.highestEpoch() + 1;
    node.primaryId = undefined;
    node.linkUp = false;
    if (line) line.slots = SlotSet.empty;
  }

  /** A sync takes a round; from then on the replica has what its primary has, be it nothing. */
  replicate(): void {
    for (const node of this.nodes.filter(({ role }) => role === 'replica')) {
      const primary = this.nodes.find(({ id }) => id === node.primaryId);
      const isLinked = primary?.role === 'primary' && node.table.get(primary.id)?.connected === true;
      const hasArrived = isLinked && (node.linkUp || node.syncing);
      if (hasArrived)
        Object.assign(node, { linkUp: true, syncedOnce: true, data: primary.data, offset: primary.offset });
      else node.linkUp = false;
      node.syncing = isLinked && !hasArrived;
    }
  }

  #talk(self: RunningPod, line: Line, { byAddress, missed }: Round): void {
    const { node, ip } = self;
    const peer = byAddress.get(line.ip);
    if (peer?.node.id !== line.id) {
      line.connected = this.foreign.get(line.id) === line.ip;
      if (line.connected) return;
      missed.add(line.id);
      const isAgreed = this.#agree(node, ({ table }) => table.get(line.id)?.connected === false);
      line.failing = isAgreed ? 'agreed' : 'suspected';
      return;
    }
    line.clientIp = peer.settings.settings['cluster-announce-client-ipv4'];
    hear(node, peer.node);
    const back = peer.node.table.get(node.id);
    if (!back) return;
    back.ip = ip;
    for (const id of missed) {
      const other = peer.node.table.get(id);
      if (other) this.#learn(self, other, byAddress);
    }
  }

  /** A node that was not known, or the new address of one that cannot be reached at the old one. */
  #learn(self: RunningPod, line: Line, byAddress: Round['byAddress']): void {
    const { node } = self;
    if (node.bans.has(line.id) || !line.connected) return;
    const known = node.table.get(line.id);
    if (known && !known.connected) known.ip = line.ip;
    const peer = known ? undefined : byAddress.get(line.ip);
    if (peer?.node.id !== line.id) return;
    this.introduce(node, peer);
    this.introduce(peer.node, self);
  }

  /** Whether more than half of the primaries with slots, dead or alive, that a node knows would vote like this. */
  #agree(node: SimulatedNode, votes: (voter: SimulatedNode) => boolean): boolean {
    const owners = new Set(Array.from(node.table.values()).flatMap(({ id, slots }) => (slots.isEmpty ? [] : [id])));
    if (!node.slots.isEmpty) owners.add(node.id);
    const isLinked = ({ id }: SimulatedNode) => id === node.id || node.table.get(id)?.connected === true;
    const voters = this.nodes.filter((each) => owners.has(each.id) && isLinked(each));
    return voters.filter(votes).length > owners.size / 2;
  }

  /** Of two primaries with one epoch, the one with the lesser id takes a new one. */
  #separateEpochs(): void {
    const primaries = this.nodes.filter(({ role, slots }) => role === 'primary' && !slots.isEmpty);
    for (const node of primaries) {
      const isTwin = ({ id, epoch, table }: SimulatedNode) =>
        id > node.id && epoch === node.epoch && table.has(node.id);
      if (primaries.some(isTwin)) node.epoch = this.highestEpoch() + 1;
    }
  }

  highestEpoch(): number {
    const epochs = this.nodes.flatMap(({ epoch, table }) => [
      epoch,
      ...Array.from(table.values(), (line) => line.epoch),
    ]);
    return Math.max(0, ...epochs);
  }
}

/** Ids of those that it does not know, or does not reach. */
function listMissed({ id, table }: SimulatedNode, running: readonly RunningPod[]): Set<string> {
  const unknown = running.flatMap(({ node }) => (node.id === id || table.has(node.id) ? [] : [node.id]));
  const unreached = Array.from(table.values()).flatMap((line) => (line.connected ? [] : [line.id]));
  return new Set([...unknown, ...unreached]);
}
