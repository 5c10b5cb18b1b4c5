import { annotations, builtInDefaults, type EffectiveClusterSpec, type ValkeyCluster } from '@valkey-operator/api';
import { SlotSet } from '@valkey-operator/valkey';
import type { Action, NodeAction, Plan } from '../actions.ts';
import type { CertificateView, ChildObject, ClusterSnapshot, NodeView, PodView } from '../snapshot.ts';
import { planCluster } from '../plan.ts';
import { runCommand } from './run-command.ts';
import { freshIdentity, hear, type Identity, type Line, type SimulatedNode } from './simulated-node.ts';

export interface SimulatedPod {
  readonly name: string;
  readonly ordinal: number;
  uid: string;
  ip: string;
  readonly kubernetesNode: string;
  readonly zone: string;
  process: 'running' | 'gated' | 'down';
  gatedSince: number;
  node: SimulatedNode | undefined;
  /** Whether its sidecar reaches the operator. */
  heard: boolean;
  lastReport: NodeView | undefined;
  labels: Record<string, string>;
}

interface Volume {
  identity: Identity | undefined;
  data: SlotSet;
}

export interface SimulationOptions {
  readonly shards?: number;
  readonly replicas?: number;
  readonly zones?: number;
  readonly nodesPerZone?: number;
  readonly spec?: Partial<EffectiveClusterSpec>;
}

const TICK_MS = 1000;
const BAN_TICKS = 60;
/** A sidecar starts a primary that has its data when nobody took over for this long. */
const GATE_BOUND_MS = 20_000;

/**
 * Kubernetes, the sidecars and Valkey in miniature: enough to carry out a plan, to break things, and to look at what has
 * become of the data. It has no clock and no chance in it: the same calls give the same history.
 */
export class SimulatedCluster {
  now = 1_700_000_000_000;
  readonly pods: SimulatedPod[] = [];
  readonly volumes = new Map<number, Volume>();
  /** Ordinals that no node takes. */
  readonly unschedulable = new Set<number>();
  readonly children = new Map<string, ChildObject>();
  readonly foreignAddresses = new Map<string, string>();
  cluster: ValkeyCluster;
  spec: EffectiveClusterSpec;
  #zones: number;
  #nodesPerZone: number;
  #certificates: { intermediate?: CertificateView; sidecar?: CertificateView } = {};
  #serial = 0;

  constructor({ shards = 3, replicas = 1, zones = 3, nodesPerZone = 1, spec = {} }: SimulationOptions = {}) {
    this.#zones = zones;
    this.#nodesPerZone = nodesPerZone;
    this.spec = { ...builtInDefaults, management: 'Bound', ...spec, masterCount: shards, replicasPerMaster: replicas };
    this.cluster = {
      apiVersion: 'valkey.io/v1alpha1',
      kind: 'ValkeyCluster',
      metadata: {
        name: 'demo',
        namespace: 'shop',
        uid: 'cluster-uid',
        resourceVersion: '1',
        generation: 1,
        creationTimestamp: new Date(this.now).toISOString(),
      },
      spec: { management: 'Bound', masterCount: shards, replicasPerMaster: replicas },
    };
  }

  get nodes(): SimulatedNode[] {
    return this.pods.flatMap(({ node, process }) => (node && process === 'running' ? [node] : []));
  }

  pod(ordinal: number): SimulatedPod {
    const found = this.pods.find((pod) => pod.ordinal === ordinal);
    if (!found) throw new Error(`no pod ${ordinal}`);
    return found;
  }

  /** Pods that are primaries of slots, by the slots they own. */
  get primaries(): SimulatedPod[] {
    return this.pods.filter(
      ({ node, process }) => process === 'running' && node?.role === 'primary' && !node.slots.isEmpty,
    );
  }

  /** What the StatefulSet asks for. */
  get podCount(): number {
    const statefulSet = this.children.get('StatefulSet/demo')?.['spec'] as { replicas: number } | undefined;
    return statefulSet?.replicas ?? 0;
  }

  snapshot(): ClusterSnapshot {
    return {
      now: this.now,
      cluster: this.cluster,
      spec: this.spec,
      operator: { version: '0.1.0', namespace: 'valkey-system', trustDomain: 'test', sidecarImage: 'sidecar' },
      children: [...this.children.values()],
      pods: this.pods.map((pod) => this.#viewPod(pod)),
      claims: [...this.volumes.keys()].map((ordinal) => ({
        name: `data-demo-${ordinal}`,
        uid: `claim-${ordinal}`,
        ordinal,
        storage: '1Gi',
        phase: 'Bound',
      })),
      kubernetesNodes: [],
      certificates: this.#certificates,
    };
  }

  /** One round of the operator. `budget`: it is killed after that many actions. */
  reconcile(inspect: (plan: Plan, snapshot: ClusterSnapshot) => void = () => undefined, budget = Infinity): Plan {
    const snapshot = this.snapshot();
    const plan = planCluster(snapshot);
    inspect(plan, snapshot);
    let left = budget;
    for (const stage of plan.stages) {
      const outcomes = stage.map((action) => {
        left -= 1;
        return left >= 0 && this.#act(action);
      });
      if (!outcomes.every(Boolean)) break;
    }
    if (left >= 0) this.#writeStatus(plan);
    return plan;
  }

  /** A second passes for kubelets and nodes. */
  tick(): void {
    this.now += TICK_MS;
    this.#runKubelets();
    for (const pod of this.pods) if (pod.process !== 'running') this.#start(pod);
    // Twice: what a node hears in one round it tells in the next.
    for (let round = 0; round < 2; round += 1) this.#gossip();
    this.#elect();
    this.#replicate();
    this.#persist();
  }

  /** Clients write to every slot that is served. */
  write(): void {
    for (const { node } of this.primaries) {
      if (!node) continue;
      node.data = node.slots;
      node.offset += 100;
    }
    this.#replicate();
    this.#persist();
  }

  nextId(kind: string): string {
    this.#serial += 1;
    return `${kind}-${String(this.#serial).padStart(4, '0')}`;
  }

  /** The pod is gone and comes back with another address; with its volume or without. */
  losePod(ordinal: number, { volume = false } = {}): void {
    const index = this.pods.findIndex((pod) => pod.ordinal === ordinal);
    if (index >= 0) this.pods.splice(index, 1);
    if (volume) this.volumes.delete(ordinal);
  }

  /** Valkey ends and is started again in its pod. */
  killProcess(ordinal: number, { data = false, identity = false } = {}): void {
    const pod = this.pod(ordinal);
    pod.process = 'down';
    pod.node = undefined;
    const volume = this.#volume(ordinal);
    if (data) volume.data = SlotSet.empty;
    if (identity) volume.identity = undefined;
  }

  annotate(name: keyof typeof annotations, value = 'true'): void {
    const { metadata } = this.cluster;
    this.cluster = {
      ...this.cluster,
      metadata: { ...metadata, annotations: { ...metadata.annotations, [annotations[name]]: value } },
    };
  }

  change(spec: Partial<EffectiveClusterSpec>): void {
    this.spec = { ...this.spec, ...spec };
    const { metadata } = this.cluster;
    this.cluster = { ...this.cluster, metadata: { ...metadata, generation: metadata.generation + 1 } };
  }

  findRunning(ip: string): SimulatedPod | undefined {
    return this.pods.find((pod) => pod.ip === ip && pod.process === 'running');
  }

  addLine(node: SimulatedNode, peer: SimulatedPod): void {
    if (!peer.node || node.bans.has(peer.node.id) || node.id === peer.node.id) return;
    const line = node.table.get(peer.node.id);
    if (line) line.ip = peer.ip;
    else node.table.set(peer.node.id, toLine(peer.node, peer));
    hear(node, peer.node);
  }

  ban(node: SimulatedNode, id: string): void {
    node.table.delete(id);
    node.bans.set(id, this.now + BAN_TICKS * TICK_MS);
  }

  #volume(ordinal: number): Volume {
    const found = this.volumes.get(ordinal) ?? { identity: undefined, data: SlotSet.empty };
    this.volumes.set(ordinal, found);
    return found;
  }

  #act(action: Action): boolean {
    switch (action.type) {
      case 'ApplyChild':
        this.children.set(`${action.object.kind}/${action.object.metadata.name}`, {
          ...this.children.get(`${action.object.kind}/${action.object.metadata.name}`),
          ...action.object,
          metadata: { ...action.object.metadata, uid: `${action.object.kind}-uid` },
        });
        return true;
      case 'DeleteChild':
        return this.children.delete(`${action.kind}/${action.name}`);
      case 'DeleteClaim':
        return this.volumes.delete(Number(action.claim.split('-').at(-1)));
      case 'LabelPod': {
        const pod = this.pods.find(({ uid }) => uid === action.uid);
        if (pod) pod.labels = { ...pod.labels, ...action.labels };
        return pod !== undefined;
      }
      case 'AddFinalizer':
        this.cluster = { ...this.cluster, metadata: { ...this.cluster.metadata, finalizers: ['valkey.io/finalizer'] } };
        return true;
      case 'RemoveFinalizer':
        this.cluster = { ...this.cluster, metadata: { ...this.cluster.metadata, finalizers: [] } };
        return true;
      case 'IssueIntermediate':
        this.#certificates = { ...this.#certificates, intermediate: this.#issue('demo-ca') };
        return true;
      case 'IssueSidecarCertificate':
        this.#certificates = { ...this.#certificates, sidecar: this.#issue('demo-sidecar-mtls') };
        return true;
      case 'DeletePod':
        this.losePod(Number(action.pod.split('-').at(-1)));
        return true;
      case 'CommandNode':
        return this.#command(action);
    }
  }

  #command(action: NodeAction): boolean {
    const pod = this.pods.find(({ uid }) => uid === action.guard.podUid);
    if (!pod?.heard) return false;
    const { command } = action;
    if (command.do !== 'releaseGate') return runCommand(this, pod, action);
    if (pod.process !== 'gated') return false;
    const volume = this.#volume(pod.ordinal);
    if (command.decision === 'new-node') volume.identity = undefined;
    if (command.decision !== 'keep-data') volume.data = SlotSet.empty;
    this.#boot(pod);
    return true;
  }

  #issue(secret: string): CertificateView {
    const life = 365 * 24 * 3_600_000;
    return {
      secret,
      thumbprint: secret,
      notBefore: this.now,
      notAfter: this.now + life,
      renewAt: this.now + life * 0.7,
    };
  }

  #writeStatus({ status, detail }: Plan): void {
    this.cluster = { ...this.cluster, status };
    const key = 'ValkeyClusterStatus/demo-status';
    const child = this.children.get(key);
    if (child) this.children.set(key, { ...child, status: detail });
  }

  #runKubelets(): void {
    const replicas = this.podCount;
    for (const pod of this.pods.filter(({ ordinal }) => ordinal >= replicas))
      this.losePod(pod.ordinal, { volume: !this.spec.pvc });
    for (let ordinal = 0; ordinal < replicas; ordinal += 1) {
      if (this.unschedulable.has(ordinal) || this.pods.some((pod) => pod.ordinal === ordinal)) continue;
      const zone = ordinal % this.#zones;
      const host = Math.floor(ordinal / this.#zones) % this.#nodesPerZone;
      this.pods.push({
        name: `demo-${ordinal}`,
        ordinal,
        uid: this.nextId('pod'),
        ip: this.nextId('ip'),
        kubernetesNode: `node-${zone}-${host}`,
        zone: `zone-${zone}`,
        process: 'down',
        gatedSince: 0,
        node: undefined,
        heard: true,
        lastReport: undefined,
        labels: {},
      });
    }
    this.pods.sort((a, b) => a.ordinal - b.ordinal);
  }

  /** The sidecar's start gate (faults.md 8), as far as the planner has to do with it. */
  #start(pod: SimulatedPod): void {
    const { identity, data } = this.#volume(pod.ordinal);
    if (pod.process === 'down') {
      pod.process = 'gated';
      pod.gatedSince = this.now;
    }
    if (!identity || identity.role === 'replica' || identity.slots.isEmpty) return this.#boot(pod);
    const replicas = [...identity.table.values()].filter(({ primaryId }) => primaryId === identity.id);
    const tables = this.nodes.flatMap((node) => [...node.table.values(), { ...node, connected: true }]);
    const later = tables.filter(({ id, epoch }) => id !== identity.id && epoch > identity.epoch);
    const taken = later.reduce((all, { slots }) => all.union(slots), SlotSet.empty);
    const isHarmless = (id: string) => {
      const node = this.nodes.find((each) => each.id === id);
      return node !== undefined && !node.syncedOnce && (node.data.isEmpty || !data.isEmpty);
    };
    const isOver = this.now - pod.gatedSince > GATE_BOUND_MS && !data.isEmpty;
    if (replicas.every(({ id }) => isHarmless(id)) || identity.slots.difference(taken).isEmpty || isOver)
      this.#boot(pod);
  }

  #boot(pod: SimulatedPod): void {
    const { identity, data } = this.#volume(pod.ordinal);
    pod.process = 'running';
    const lines = [...(identity?.table.values() ?? [])].map(
      (line) => [line.id, { ...line, connected: false }] as const,
    );
    pod.node = {
      // Keys of slots that it believes to be nobody's make it claim them.
      ...(identity ?? { ...freshIdentity(this.nextId('node')), slots: data }),
      table: new Map(lines),
      data,
      offset: data.isEmpty ? 0 : 1,
      linkUp: false,
      syncing: false,
      syncedOnce: false,
      bans: new Map(),
    };
  }

  #gossip(): void {
    for (const pod of this.pods) {
      const { node } = pod;
      if (!node || pod.process !== 'running') continue;
      for (const [id, until] of node.bans) if (until <= this.now) node.bans.delete(id);
      for (const line of [...node.table.values()]) {
        const peer = this.findRunning(line.ip);
        const isForeign = this.foreignAddresses.get(line.id) === line.ip;
        if (peer?.node?.id === line.id) {
          hear(node, peer.node);
          const back = peer.node.table.get(node.id);
          if (back) back.ip = pod.ip;
          if (back) for (const other of peer.node.table.values()) this.#learn(node, other);
        } else {
          line.connected = isForeign;
          if (!isForeign && line.failing === 'no') line.failing = 'suspected';
          if (this.#agree(node, ({ table }) => table.get(line.id)?.connected === false)) line.failing = 'agreed';
        }
      }
    }
    this.#separateEpochs();
  }

  /** Gossip: a node that was not known, or the new address of one that cannot be reached at the old one. */
  #learn(node: SimulatedNode, line: Line): void {
    if (node.id === line.id || node.bans.has(line.id) || !line.connected) return;
    const known = node.table.get(line.id);
    if (known && !known.connected) known.ip = line.ip;
    if (known) return;
    const peer = this.findRunning(line.ip);
    if (peer?.node?.id !== line.id) return;
    this.addLine(node, peer);
    this.#acceptBack(peer.node, node);
  }

  #acceptBack(peer: SimulatedNode, node: SimulatedNode): void {
    const pod = this.pods.find((each) => each.node === node);
    if (pod) this.addLine(peer, pod);
  }

  /** Whether more than half of the primaries with slots, dead or alive, that a node knows would vote like this. */
  #agree(node: SimulatedNode, votes: (voter: SimulatedNode) => boolean): boolean {
    const owners = new Set([...node.table.values()].filter(({ slots }) => !slots.isEmpty).map(({ id }) => id));
    if (!node.slots.isEmpty) owners.add(node.id);
    const isLinked = ({ id }: SimulatedNode) => id === node.id || node.table.get(id)?.connected === true;
    const voters = this.nodes.filter((each) => owners.has(each.id) && isLinked(each));
    return voters.filter(votes).length > owners.size / 2;
  }

  #separateEpochs(): void {
    const primaries = this.nodes.filter(({ role, slots }) => role === 'primary' && !slots.isEmpty);
    for (const node of primaries) {
      const twin = primaries.find(
        (each) => each !== node && each.epoch === node.epoch && each.table.has(node.id) && each.id > node.id,
      );
      if (twin) node.epoch = this.highestEpoch() + 1;
    }
  }

  highestEpoch(): number {
    return Math.max(
      0,
      ...this.nodes.flatMap((node) => [node.epoch, ...[...node.table.values()].map(({ epoch }) => epoch)]),
    );
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

  #elect(): void {
    const [best] = this.nodes
      .filter(
        (node) =>
          node.role === 'replica' && node.syncedOnce && node.table.get(node.primaryId ?? '')?.failing === 'agreed',
      )
      .filter((node) => this.#agree(node, () => true))
      .toSorted((a, b) => b.offset - a.offset);
    if (best) this.promote(best);
  }

  #replicate(): void {
    for (const node of this.nodes.filter(({ role }) => role === 'replica')) {
      const primary = this.nodes.find(({ id }) => id === node.primaryId);
      const isLinked = primary?.role === 'primary' && node.table.get(primary.id)?.connected === true;
      if (!isLinked) {
        node.linkUp = false;
        node.syncing = false;
      } else if (node.linkUp) {
        node.data = primary.data;
        node.offset = primary.offset;
      } else if (node.syncing) {
        Object.assign(node, {
          syncing: false,
          linkUp: true,
          syncedOnce: true,
          data: primary.data,
          offset: primary.offset,
        });
      } else {
        node.syncing = true;
      }
    }
  }

  #persist(): void {
    for (const { node, ordinal, process } of this.pods) {
      if (!node || process !== 'running') continue;
      const { id, epoch, role, primaryId, slots, table, data } = node;
      const copy = new Map([...table].map(([key, line]) => [key, { ...line }]));
      this.volumes.set(ordinal, { identity: { id, epoch, role, primaryId, slots, table: copy }, data });
    }
  }

  #viewPod(pod: SimulatedPod): PodView {
    if (pod.heard) pod.lastReport = viewNode(pod, this.now);
    const report = pod.lastReport && { ...pod.lastReport, live: pod.heard };
    return {
      name: pod.name,
      uid: pod.uid,
      ordinal: pod.ordinal,
      ip: pod.ip,
      kubernetesNode: pod.kubernetesNode,
      zone: pod.zone,
      phase: 'Running',
      ready: pod.process === 'running',
      createdAt: this.now,
      labels: pod.labels,
      annotations: {},
      finalizers: [],
      valkeyRestarts: 0,
      ...(report && { report }),
    };
  }
}

function toLine(node: SimulatedNode, { ip, name }: SimulatedPod): Line {
  const { id, epoch, primaryId } = node;
  return {
    id,
    epoch,
    primaryId,
    ip,
    hostname: `${name}.demo-headless.shop.svc`,
    slots: SlotSet.empty,
    connected: true,
    failing: 'no',
  };
}

function viewNode(pod: SimulatedPod, now: number): NodeView {
  const { node, process } = pod;
  const isReady = node ? (node.role === 'primary' ? !node.slots.isEmpty : node.linkUp) : false;
  return {
    receivedAt: now,
    live: true,
    process: {
      state: process === 'down' ? 'exited' : process,
      restarts: 0,
      version: '9.1.2',
      ...(process === 'gated' && {
        gate: { reason: 'REPLICA_MAY_HAVE_MORE_DATA', message: 'held', since: pod.gatedSince },
      }),
    },
    ...(node && process === 'running' && { cluster: viewCluster(pod, node) }),
    ...(node && {
      replication: {
        offset: node.offset,
        linkUp: node.linkUp,
        syncInProgress: node.syncing,
        syncedOnce: node.syncedOnce,
      },
      memory: { usedBytes: 1_000_000, maxBytes: 0, keys: node.data.count },
    }),
    config: { runningHash: 'hash', renderedHash: 'hash', message: '' },
    dataState: 'unknown',
    ready: isReady,
    message: '',
  };
}

function viewCluster({ ip, name }: SimulatedPod, node: SimulatedNode): NonNullable<NodeView['cluster']> {
  const { id, role, primaryId, epoch, slots } = node;
  const lines = [...node.table.values()].map((line) => ({
    id: line.id,
    ip: line.ip,
    port: 6379,
    hostname: line.hostname,
    flags: [
      line.primaryId ? 'slave' : 'master',
      ...(line.failing === 'agreed' ? ['fail'] : line.failing === 'suspected' ? ['fail?'] : []),
    ],
    ...(line.primaryId && { primaryId: line.primaryId }),
    configEpoch: line.epoch,
    linkConnected: line.connected,
    slots: line.slots.toString(),
  }));
  const hostname = `${name}.demo-headless.shop.svc`;
  const own = {
    id,
    ip,
    port: 6379,
    hostname,
    flags: ['myself', role === 'primary' ? 'master' : 'slave'],
    configEpoch: epoch,
    linkConnected: true,
    slots: slots.toString(),
  };
  return {
    nodeId: id,
    shardId: `shard-of-${primaryId ?? id}`,
    role,
    ...(primaryId && { primaryId }),
    configEpoch: epoch,
    currentEpoch: epoch,
    stateOk: true,
    slots: slots.toString(),
    slotsAssigned: 0,
    slotsOk: 0,
    nodes: [own, ...lines],
    openSlots: [],
  };
}
