import {
  annotations,
  builtInDefaults,
  type EffectiveClusterSpec,
  type ValkeyCluster,
  type ValkeyClusterStatus,
  type ValkeyUpgrade,
} from '@valkey-operator/api';
import { SlotSet } from '@valkey-operator/valkey';
import type { Plan } from '../actions.ts';
import { settingsInEffect } from '../builders/settings.ts';
import { formatImage } from '../builders/template-parts.ts';
import { withUpgradedImage } from '../upgrade/upgraded-image.ts';
import { planCluster } from '../plan.ts';
import { childNames } from '../builders/names.ts';
import type {
  CertificateView,
  ChildObject,
  ClusterSnapshot,
  KubernetesNodeView,
  NodeView,
  OperatorView,
} from '../snapshot.ts';
import { applyAction } from './apply-action.ts';
import type { SimulationOptions } from './simulation-options.ts';
import { SimulatedBus } from './simulated-bus.ts';
import { tryStart } from './simulated-gate.ts';
import { runKubelets } from './simulated-kubelets.ts';
import { SimulatedMemory } from './simulated-memory.ts';
import { freshIdentity, startNode } from './simulated-node.ts';
import { moveSlots } from './simulated-moves.ts';
import { SimulatedRefusals } from './simulated-refusals.ts';
import { SimulatedTrials } from './simulated-trials.ts';
import {
  carryOutResize,
  giveUp,
  isRunning,
  readSettings,
  type RunningPod,
  type SimulatedPod,
  viewPod,
} from './simulated-pod.ts';
import { type StatusKind, statusKinds, writeStatus } from './write-status.ts';
import { claimedSize, emptyVolume, viewClaims, type Volume, type VolumeTraits } from './simulated-volumes.ts';

const TICK_MS = 1000;

/**
 * Kubernetes, the sidecars and Valkey in miniature: enough to carry out a plan, to break things, and to look at what has
 * become of the data. It has no clock and no chance in it: the same calls give the same history.
 */
export class SimulatedCluster {
  now = 1_700_000_000_000;
  readonly pods: SimulatedPod[] = [];
  readonly bus = new SimulatedBus(this.pods);
  readonly volumes = new Map<number, Volume>();
  /** Ordinals that no node takes. */
  readonly unschedulable = new Set<number>();
  /** Ordinals whose Valkey takes its time to start. */
  readonly slow = new Set<number>();
  /** Settings with which no Valkey starts, as it would write them. */
  readonly fatalSettings = new Set<string>();
  /** Images that no registry has. */
  readonly brokenImages = new Set<string>();
  /** Bytes that a Kubernetes node has for a pod. */
  nodeMemory = Infinity;
  /** The API server cannot change the resources of a pod. */
  refusesResize = false;
  readonly refusals = new SimulatedRefusals();
  /** Of settings, and of images. */
  readonly trials = new SimulatedTrials();
  readonly imageTrials = new SimulatedTrials();
  readonly children = new Map<string, ChildObject>();
  /** Of the operator, and what it could not do last. */
  term = 1;
  failures: readonly string[] = [];
  certificates: { intermediate?: CertificateView; sidecar?: CertificateView } = {};
  cluster: ValkeyCluster;
  readonly upgrades: ValkeyUpgrade[] = [];
  spec: EffectiveClusterSpec;
  operator: OperatorView = { version: '0.1.0', namespace: 'valkey-system', trustDomain: 'test' };
  /** Where pods go, by ordinal, and again from the first. */
  kubernetesNodes: readonly KubernetesNodeView[];
  /** Ordinals that go to a node of their own. */
  readonly homes = new Map<number, KubernetesNodeView>();
  /** Before each name that it gives, so that none is one of another's. */
  origin = '';
  readonly memory: SimulatedMemory;
  /** Of volumes that are made from now on. */
  newVolumes: VolumeTraits = { expandable: true };
  #serial = 0;

  constructor(options: SimulationOptions = {}) {
    const { shards = 3, replicas = 1, zones = 3, nodesPerZone = 1, spec = {} } = options;
    this.memory = new SimulatedMemory({ usedBytes: options.usedBytes ?? 1_000_000, maxBytes: options.maxBytes ?? 0 });
    this.kubernetesNodes = Array.from({ length: zones * nodesPerZone }, (_, index) => ({
      name: `node-${index % zones}-${Math.floor(index / zones)}`,
      zone: `zone-${index % zones}`,
      ready: true,
    }));
    const written = { management: 'Bound', masterCount: shards, replicasPerMaster: replicas } as const;
    this.spec = { ...builtInDefaults, ...spec, ...written };
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
      spec: written,
    };
  }

  readonly versionOf = (image: string): string => `${image.split(':').at(-1)}.2`;

  pod(ordinal: number): SimulatedPod {
    const found = this.pods.find((pod) => pod.ordinal === ordinal);
    if (!found) throw new Error(`no pod ${ordinal}`);
    return found;
  }

  get names() {
    return childNames(this.cluster.metadata.name);
  }

  get nodes() {
    return this.bus.nodes;
  }

  /** Pods that are primaries of slots. */
  get primaries(): RunningPod[] {
    return this.bus.running.filter(({ node }) => node.role === 'primary' && !node.slots.isEmpty);
  }

  /** What the StatefulSet asks for. */
  get podCount(): number {
    return (this.statefulSet?.['spec'] as { replicas: number } | undefined)?.replicas ?? 0;
  }

  get statefulSet(): ChildObject | undefined {
    return this.children.get(`StatefulSet/${this.names.statefulSet}`);
  }

  nextId(kind: string): string {
    this.#serial += 1;
    return `${this.origin}${kind}-${String(this.#serial).padStart(4, '0')}`;
  }

  snapshot(): ClusterSnapshot {
    return {
      now: this.now,
      cluster: this.cluster,
      spec: withUpgradedImage(this.spec, this.#detail),
      writtenImage: formatImage(this.spec.valkeyImage),
      upgrades: this.upgrades,
      operator: { ...this.operator, term: this.term },
      children: [...this.children.values()],
      pods: this.pods.map((pod) => viewPod(pod, this.now, this.#viewStock(pod))),
      claims: viewClaims(this.volumes, (ordinal) => this.names.claim(ordinal)),
      kubernetesNodes: this.kubernetesNodes,
      certificates: this.certificates,
      failures: this.failures,
      refusals: this.refusals.views,
      ...(this.trials.current && { trial: this.trials.current }),
      ...(this.imageTrials.current && { imageTrial: this.imageTrials.current }),
    };
  }

  /** One round of the operator. It is killed after so many actions, and has `told` only some of it, if that is given. */
  reconcile(inspect: (plan: Plan) => void = () => undefined, budget = Infinity, told?: readonly StatusKind[]): Plan {
    const plan = planCluster(this.snapshot());
    inspect(plan);
    let left = budget;
    for (const stage of plan.stages) {
      const outcomes = stage.map((action) => {
        left -= 1;
        return left >= 0 && applyAction(this, action);
      });
      if (!outcomes.every(Boolean)) break;
    }
    for (const kind of told ?? (left >= 0 ? statusKinds : [])) writeStatus(this, plan, kind);
    return plan;
  }

  /** A second passes for kubelets and nodes. */
  tick(): void {
    this.now += TICK_MS;
    runKubelets(this);
    for (const trials of [this.trials, this.imageTrials]) trials.tick(this);
    for (const pod of this.pods) carryOutResize(pod, this.nodeMemory);
    for (const pod of this.pods) if (pod.process !== 'running' && !pod.broken && !pod.homeless) tryStart(this, pod);
    // Twice: what a node hears in one round it tells in the next.
    for (let round = 0; round < 2; round += 1) this.bus.gossip(this.now);
    this.bus.elect();
    moveSlots(this.bus);
    this.bus.replicate();
    this.persist();
  }

  /** Clients write to every slot that is served. */
  write(): void {
    for (const { node } of this.primaries) {
      node.data = node.slots;
      node.offset += 100;
    }
    this.bus.replicate();
    this.persist();
  }

  /** The pod is gone and comes back with another address; with its volume or without. */
  losePod(ordinal: number, { volume = false } = {}): void {
    const index = this.pods.findIndex((pod) => pod.ordinal === ordinal);
    if (index >= 0) this.pods.splice(index, 1);
    if (volume) this.volumes.delete(ordinal);
  }

  /** Valkey ends and is started again in its pod; `data` and `identity` say what its disk has lost meanwhile. */
  killProcess(ordinal: number, { data = false, identity = false } = {}): void {
    const pod = this.pod(ordinal);
    pod.process = 'down';
    pod.node = undefined;
    const volume = this.volume(ordinal);
    if (data) volume.data = SlotSet.empty;
    if (identity) volume.identity = undefined;
  }

  annotate(name: keyof typeof annotations, value = 'true'): void {
    const { metadata } = this.cluster;
    const annotated = { ...metadata.annotations, [annotations[name]]: value };
    this.cluster = { ...this.cluster, metadata: { ...metadata, annotations: annotated } };
  }

  change(spec: Partial<EffectiveClusterSpec>): void {
    this.spec = { ...this.spec, ...spec };
    const { metadata } = this.cluster;
    this.cluster = { ...this.cluster, metadata: { ...metadata, generation: metadata.generation + 1 } };
  }

  volume(ordinal: number): Volume {
    const found = this.volumes.get(ordinal) ?? emptyVolume(claimedSize(this.statefulSet), this.newVolumes);
    this.volumes.set(ordinal, found);
    return found;
  }

  boot(pod: SimulatedPod): void {
    const { identity, data } = this.volume(pod.ordinal);
    // Keys of slots that it believes to be nobody's make a node claim them.
    const known = identity ?? { ...freshIdentity(this.nextId('node')), slots: data };
    readSettings(pod, settingsInEffect({ cluster: this.cluster, children: [...this.children.values()] }));
    pod.lastWords = giveUp(pod, this.fatalSettings);
    pod.process = pod.lastWords === undefined ? 'running' : 'down';
    if (pod.process === 'running') pod.node = startNode(known, data);
  }

  #viewStock({ ordinal, node }: SimulatedPod): Pick<NodeView, 'dataState' | 'memory'> {
    const { identity, data } = this.volumes.get(ordinal) ?? {};
    const dataState = data && !data.isEmpty ? 'present' : identity ? 'identity-only' : 'empty';
    return { dataState, ...(node && { memory: this.memory.view(ordinal, node.data) }) };
  }

  get #detail(): ValkeyClusterStatus['status'] {
    return this.children.get(`ValkeyClusterStatus/${this.names.status}`)?.['status'] as ValkeyClusterStatus['status'];
  }

  /** What nodes have on disk. */
  persist(): void {
    for (const { node, ordinal } of this.pods.filter(isRunning)) {
      const { id, epoch, role, primaryId, slots, table, data } = node;
      const copy = new Map(Array.from(table, ([key, line]) => [key, { ...line }]));
      const open = { importing: new Map(node.importing), migrating: new Map(node.migrating) };
      const identity = { id, epoch, role, primaryId, slots, ...open, table: copy };
      Object.assign(this.volume(ordinal), { identity, data });
    }
  }
}
