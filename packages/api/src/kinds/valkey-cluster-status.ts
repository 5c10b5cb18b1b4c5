import type { z } from 'zod';
import { conditions, observedGeneration } from '../conditions.ts';
import { age, defineKind, type Resource } from '../define-kind.ts';
import { aclStatus, exporterStatus, phase, tlsStatus } from '../fields/feature-status.ts';
import { orchestrationKinds } from '../fields/orchestration.ts';
import { anything, choice, flag, integer, list, object, text, timestamp } from '../schema/field.ts';
import { objectName } from '../schema/name.ts';

const slotRanges = list('Ranges of slots.', text('A range: 0-5460.', { max: 16 }), { max: 4096 });

const node = object('A Valkey node as its sidecar last reported it.', {
  pod: text('Name of the pod.', { max: 63 }),
  nodeId: text('Id in the cluster.', { max: 40 }).optional(),
  role: choice('Role in its shard.', ['primary', 'replica']).optional(),
  shard: text('Id of its shard.', { max: 64 }).optional(),
  zone: text('Zone of its Kubernetes node.', { max: 63 }).optional(),
  kubernetesNode: text('The Kubernetes node it runs on.').optional(),
  address: text('IP address of the pod.', { max: 64 }).optional(),
  ready: flag('Whether it serves its role.').optional(),
  replicationOffset: integer('Position in the replication stream.').optional(),
  lagBytes: integer('Bytes a replica is behind its primary.').optional(),
  linkUp: flag('Whether a replica hears its primary.').optional(),
  usedMemoryBytes: integer('Memory in use.').optional(),
  version: text('Version of Valkey.', { max: 64 }).optional(),
  configHash: text('Hash of the configuration in effect.', { max: 64 }).optional(),
  aclHash: text('Hash of the users in effect.', { max: 64 }).optional(),
  certificateThumbprint: text('Thumbprint of the certificate in use.', { max: 64 }).optional(),
  lastHeartbeat: timestamp('When its sidecar was last heard.').optional(),
  message: text('What is wrong with it.', { max: 1024 }).optional(),
});

const shard = object('A shard.', {
  id: text('Id of the shard.', { max: 64 }),
  primary: text('Pod of the primary.', { max: 63 }).optional(),
  replicas: list('Pods of the replicas.', text('A pod.', { max: 63 }), { max: 16 }).optional(),
  slots: slotRanges.optional(),
});

const migration = object('Slots on their way from one shard to another.', {
  from: text('Shard that gives.', { max: 64 }),
  to: text('Shard that takes.', { max: 64 }),
  slots: slotRanges,
  state: text('State in the words of Valkey.', { max: 64 }).optional(),
  remainingBytes: integer('What is still to be sent.').optional(),
  message: text('What went wrong.', { max: 1024 }).optional(),
});

const displacedSlots = object('Slots that somebody has moved to another shard.', {
  shard: text('The shard that gets them back.', { max: 64 }),
  slots: slotRanges,
});

const logEntry = object('A step of an orchestration.', {
  orchestration: text('Id of the orchestration.', { max: 64 }),
  kind: choice('What it does.', orchestrationKinds),
  step: integer('Number of the step.'),
  stepName: text('What the step is called.', { max: 64 }).optional(),
  startedAt: timestamp('When the step began.'),
  finishedAt: timestamp('When the step ended.').optional(),
  outcome: choice('How it ended.', [
    'Succeeded',
    'Failed',
    'Retried',
    'RolledBack',
    'Cancelled',
    'Interrupted',
  ]).optional(),
  message: text('What it did.', { max: 1024 }).optional(),
});

const failedRoll = object('A roll whose pods did not become healthy: the pods went back to the template before.', {
  template: text('What the pods were to be made from.', { max: 512 }),
  pod: text('The pod that failed.', { max: 63 }),
  message: text('What was seen, and at which step.', { max: 2048 }),
  at: timestamp('When it was given up.'),
});

const upgraded = object('The image that a ValkeyUpgrade has put into effect.', {
  insteadOf: text('The image in the spec that it replaces; when another is written there, that one counts.', {
    max: 512,
  }),
  name: text('Repository of the image.', { max: 512 }),
  tag: text('Tag of the image.', { max: 256 }),
  by: text('The ValkeyUpgrade.', { max: 253 }),
  uid: text('Which object of that name it was.', { max: 64 }).optional(),
});

/** Steps kept in the log. */
export const logLength = 50;

const status = object('Detail of the cluster; written at most once a second and only when something changed.', {
  observedGeneration: observedGeneration.optional(),
  phase: phase.optional(),
  clusterType: choice('Topology.', ['cluster']).optional(),
  masterCount: integer('Primaries that serve slots.').optional(),
  replicasPerMaster: integer('Replicas wanted per primary.').optional(),
  statefulSet: object('The StatefulSet of the cluster.', { name: text('Its name.', { max: 63 }) }).optional(),
  nodes: list('Every node.', node, { max: 3000, key: 'pod' }).optional(),
  shards: list('Every shard.', shard, { max: 500, key: 'id' }).optional(),
  migrations: list('Slots on their way.', migration, { max: 500 }).optional(),
  displaced: list('Slots moved by hand, until they are back.', displacedSlots, { max: 500 }).optional(),
  orchestrationLog: list('The last steps, newest last.', logEntry, { max: logLength }).optional(),
  effectiveSpec: anything(
    'The spec with all defaults, as last put into effect: a default that changes is shown against it before it acts.',
  ).optional(),
  acceptedSettings: anything(
    'The settings of Valkey that every node has accepted, with their hash: its ConfigMap is made anew from these.',
  ).optional(),
  failedRoll: failedRoll.optional(),
  upgraded: upgraded.optional(),
  tls: tlsStatus.optional(),
  acl: aclStatus.optional(),
  exporter: exporterStatus.optional(),
  conditions: conditions.optional(),
});

export const valkeyClusterStatus = defineKind({
  kind: 'ValkeyClusterStatus',
  plural: 'valkeyclusterstatuses',
  shortNames: ['vcs'],
  description:
    'The bulky, fast-changing detail of one ValkeyCluster, written by the operator and named <cluster>-status. ' +
    'It is apart so that watchers of ValkeyCluster are not woken by it.',
  installed: true,
  spec: object('Whose detail it is.', { clusterRef: objectName('The ValkeyCluster, in this namespace.') }),
  status,
  columns: [
    { name: 'Cluster', description: 'The ValkeyCluster.', jsonPath: '.spec.clusterRef' },
    { name: 'Phase', description: 'One-word summary.', jsonPath: '.status.phase' },
    { name: 'Masters', description: 'Primaries that serve slots.', jsonPath: '.status.masterCount', type: 'integer' },
    age,
  ],
});

export type ValkeyClusterStatus = Resource<typeof valkeyClusterStatus>;
export type NodeDetail = z.output<typeof node>;
export type ShardDetail = z.output<typeof shard>;
export type SlotMigration = z.output<typeof migration>;
export type UpgradedImage = z.output<typeof upgraded>;
export type FailedRoll = z.output<typeof failedRoll>;
export type OrchestrationLogEntry = z.output<typeof logEntry>;
