import type { EffectiveClusterSpec } from '@valkey-operator/api';
import { SlotSet } from '@valkey-operator/valkey';
import { settingsInEffect, settingsOfNode } from '../builders/settings.ts';
import { parseImage } from '../builders/template-parts.ts';
import type { ClusterSnapshot, NodeClusterView, NodeView, PodView } from '../snapshot.ts';
import { describeStuck } from '../status/pod-problems.ts';
import { SimulatedCluster } from './simulated-cluster.ts';
import { makePod } from './simulated-kubelets.ts';
import { freshIdentity, type Line, type SimulatedNode } from './simulated-node.ts';
import { listShares } from './shares.ts';
import { emptyVolume } from './simulated-volumes.ts';
import type { SimulationOptions } from './simulation-options.ts';

/** A cluster of the imagination that stands where a real one stands, to see what would become of it. */
export function modelCluster(snapshot: ClusterSnapshot): SimulatedCluster {
  const spec = withWrittenImage(snapshot);
  const model = new SimulatedCluster({ spec, ...usualMemory(snapshot) });
  model.origin = 'model-';
  model.now = snapshot.now;
  model.cluster = snapshot.cluster;
  model.spec = spec;
  model.operator = snapshot.operator;
  model.certificates = snapshot.certificates;
  model.trials.current = snapshot.trial;
  model.imageTrials.current = snapshot.imageTrial;
  model.kubernetesNodes = placesOf(snapshot);
  model.upgrades.push(...structuredClone(snapshot.upgrades ?? []));
  for (const child of snapshot.children) model.children.set(`${child.kind}/${child.metadata.name}`, child);
  for (const pod of snapshot.pods) model.pods.push({ ...makePod(model, pod.ordinal), ...modelPod(pod, snapshot) });
  // Who is replaced comes back where it was, as far as anybody can tell.
  for (const { ordinal, kubernetesNode: name, zone } of model.pods)
    model.homes.set(ordinal, { name, zone, ready: true });
  model.pods.sort((a, b) => a.ordinal - b.ordinal);
  modelVolumes(model, snapshot);
  for (const { ordinal, report } of snapshot.pods) if (report?.memory) model.memory.note(ordinal, report.memory);
  for (const { slots, keys } of listShares(snapshot)) model.memory.crowd(slots, keys / slots.count);
  // What the nodes would have written down by now.
  model.persist();
  return model;
}

/** What is written, where an upgrade has put another image into effect. */
function withWrittenImage({ spec, writtenImage }: ClusterSnapshot): EffectiveClusterSpec {
  if (writtenImage === undefined) return spec;
  return { ...spec, valkeyImage: { ...spec.valkeyImage, ...parseImage(writtenImage) } };
}

/** New pods get as much as the others have. */
function usualMemory({ pods }: ClusterSnapshot): Pick<SimulationOptions, 'maxBytes'> {
  return { maxBytes: Math.max(0, ...pods.map(({ report }) => report?.memory?.maxBytes ?? 0)) };
}

/** Those that are added later are of the same class. */
function modelVolumes(model: SimulatedCluster, { claims }: ClusterSnapshot): void {
  const traits = claims.map(({ expandable, storageClass }) => ({
    ...(expandable !== undefined && { expandable }),
    ...(storageClass !== undefined && { storageClass }),
  }));
  for (const [index, { ordinal, storage }] of claims.entries())
    model.volumes.set(ordinal, emptyVolume(storage, traits[index] ?? {}));
  model.newVolumes = traits.find(({ expandable }) => expandable === false) ?? traits[0] ?? {};
}

/** Where new pods may go: first where there are fewest already, as a scheduler that spreads them would choose. */
function placesOf({ kubernetesNodes, pods }: ClusterSnapshot): ClusterSnapshot['kubernetesNodes'] {
  const load = (name: string) => pods.filter(({ kubernetesNode }) => kubernetesNode === name).length;
  const ready = kubernetesNodes.filter((node) => node.ready).toSorted((a, b) => load(a.name) - load(b.name));
  // The next ordinal gets the first of these.
  const shift = ready.length > 0 ? pods.length % ready.length : 0;
  return [...ready.slice(ready.length - shift), ...ready.slice(0, ready.length - shift)];
}

function modelPod(pod: PodView, snapshot: ClusterSnapshot) {
  const { name, uid, ip = '', kubernetesNode = '', zone = '', labels, annotations, createdAt, report } = pod;
  const resize = pod.resizing ? 'begun' : pod.resizePending === undefined ? undefined : 'pending';
  const isRunning = report?.process.state === 'running' && report.cluster !== undefined;
  return {
    name,
    uid,
    ip,
    kubernetesNode,
    zone,
    labels: { ...labels },
    annotations: { ...annotations },
    createdAt,
    resize,
    exporter: modelExporter(pod),
    version: report?.process.version ?? '',
    ...modelSettings(pod, snapshot),
    process: isRunning ? 'running' : 'down',
    node: isRunning && report.cluster ? modelNode(report.cluster, pod, snapshot) : undefined,
  } as const;
}

/** One that has yet to come up will. */
function modelExporter({ exporter }: PodView) {
  return exporter && (describeStuck(exporter.waiting) === undefined ? 'running' : 'broken');
}

/** It has been told what is in effect; some of that may wait for its next start. */
function modelSettings({ name, report }: PodView, snapshot: ClusterSnapshot) {
  const inEffect = settingsInEffect(snapshot);
  const settings = inEffect ? settingsOfNode(inEffect, name) : {};
  const waiting = report?.config.restartFor ?? [];
  return {
    settings: { hash: report?.config.runningHash ?? '', settings },
    startedWith: Object.fromEntries(Object.entries(settings).filter(([key]) => !waiting.includes(key))),
  };
}

function modelNode(cluster: NodeClusterView, { report }: PodView, { pods }: ClusterSnapshot): SimulatedNode {
  const { nodeId, role, primaryId, configEpoch, slots } = cluster;
  const primary = pods.find((pod) => pod.report?.cluster?.nodeId === primaryId)?.report?.cluster;
  const served = SlotSet.parse(role === 'primary' ? slots : (primary?.slots ?? ''));
  // Keys of slots that are not its own: of which, it does not say.
  const held = served.isEmpty ? SlotSet.parse('0') : served;
  const others = cluster.nodes.filter(({ id }) => id !== nodeId);
  return {
    ...freshIdentity(nodeId),
    epoch: configEpoch,
    role,
    primaryId,
    slots: SlotSet.parse(role === 'primary' ? slots : ''),
    importing: new Map(listOpen(cluster, 'importingFrom')),
    migrating: new Map(listOpen(cluster, 'migratingTo')),
    table: new Map(others.map((line) => [line.id, modelLine(line)])),
    data: (report?.memory?.keys ?? 0) > 0 ? held : SlotSet.empty,
    ...modelReplication(report?.replication),
    bans: new Map(),
    move: undefined,
  };
}

function listOpen({ openSlots }: NodeClusterView, end: 'importingFrom' | 'migratingTo'): [number, string][] {
  return openSlots.flatMap(({ slot, [end]: other }) => (other === undefined ? [] : [[slot, other]]));
}

function modelReplication(replication: NodeView['replication']) {
  const { offset = 0, linkUp = false, syncInProgress: syncing = false, syncedOnce = false } = replication ?? {};
  return { offset, linkUp, syncing, syncedOnce };
}

function modelLine(line: NodeClusterView['nodes'][number]): Line {
  return {
    id: line.id,
    hostname: line.hostname ?? '',
    ip: line.ip,
    clientIp: line.clientIp,
    epoch: line.configEpoch,
    slots: SlotSet.parse(line.slots),
    primaryId: line.primaryId,
    connected: line.linkConnected,
    failing: line.flags.includes('fail') ? 'agreed' : line.flags.includes('fail?') ? 'suspected' : 'no',
  };
}
