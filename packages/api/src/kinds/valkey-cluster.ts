import type { z } from 'zod';
import { builtInDefaults } from '../built-in-defaults.ts';
import { age, defineKind, phase, ready, reason, type Resource } from '../define-kind.ts';
import { deploymentStatus } from '../fields/deployment-status.ts';
import { nodeDefaults, nodeOwn, nodeRules, nodeTransitions } from '../fields/node-spec.ts';
import { cancelled, cancelledBefore, pendingOrchestrations, plan } from '../fields/orchestration.ts';
import { minReplicasReachable, replication } from '../fields/replication.ts';
import { nodePortsFit, services } from '../fields/services.ts';
import { flag, integer, object, text, timestamp } from '../schema/field.ts';
import { validDeploymentName } from '../schema/name.ts';

const masterCount = integer('Number of primaries, that is of shards. Changing it moves slots, online.', {
  min: 3,
  max: 500,
  why: 'a cluster needs three primaries to agree on a failover; for a single node use ValkeyStandalone',
});

const replicasPerMaster = integer('Replicas of each primary. With 0, a lost pod is a lost shard.', {
  min: 0,
  max: 5,
  why: 'every replica costs its primary a copy of each write',
});

const rebalancePrimaries = flag(
  'Whether primaries hand over to replicas so that they are spread over nodes and zones again, after a roll or a failover. Each handover is a short gap in the writes of its shard; without it, roles stay where they are.',
);

/** All that ValkeyClusterDefaults may supply. */
export const clusterDefaults = {
  masterCount: masterCount.optional(),
  replicasPerMaster: replicasPerMaster.optional(),
  rebalancePrimaries: rebalancePrimaries.optional(),
  ...nodeDefaults,
  replication: replication.optional(),
  services: services.optional(),
};

export const clusterRules = [minReplicasReachable, nodePortsFit, ...nodeRules];

export const clusterSpec = object(
  'What the cluster shall be. A field left out comes from ValkeyClusterDefaults, or else is built in.',
  { ...clusterDefaults, ...nodeOwn },
  { rules: [...clusterRules, ...nodeTransitions] },
);

const status = object('What the cluster is, in short; ValkeyClusterStatus has the detail.', {
  ...deploymentStatus,
  masters: text('Primaries ready of those wanted: 3/3.', { max: 16 }).optional(),
  replicas: text('Replicas ready of those wanted: 3/3.', { max: 16 }).optional(),
  masterCount: integer('Primaries that serve slots, for the scale subresource.').optional(),
  selector: text('Selects the pods of the cluster, for the scale subresource.', { max: 512 }).optional(),
  slotsAssigned: integer('Slots that have a primary, of 16384.').optional(),
  effectiveSpecHash: text('Hash of the spec with all defaults applied, as last put into effect.', {
    max: 64,
  }).optional(),
  certificateExpiry: timestamp('When the first certificate in use expires.').optional(),
  pendingOrchestrations: pendingOrchestrations.optional(),
  plan: plan.optional(),
  cancelled: cancelled.optional(),
  cancelledBefore: cancelledBefore.optional(),
});

export const valkeyCluster = defineKind({
  kind: 'ValkeyCluster',
  plural: 'valkeyclusters',
  shortNames: ['vc'],
  description: 'A Valkey cluster: primaries that share 16384 slots, each with replicas.',
  installed: true,
  spec: clusterSpec,
  status,
  builtIn: builtInDefaults,
  rules: validDeploymentName,
  scale: { spec: '.spec.masterCount', status: '.status.masterCount', selector: '.status.selector' },
  columns: [
    ready,
    phase,
    { name: 'Masters', description: 'Primaries ready of those wanted.', jsonPath: '.status.masters' },
    { name: 'Replicas', description: 'Replicas ready of those wanted.', jsonPath: '.status.replicas' },
    { name: 'Slots', description: 'Slots that have a primary.', jsonPath: '.status.slotsAssigned', type: 'integer' },
    { name: 'Operation', description: 'What the operator is doing.', jsonPath: '.status.orchestration.kind' },
    { name: 'Version', description: 'Version of Valkey.', jsonPath: '.status.version' },
    age,
    reason,
    {
      name: 'Cert-Expiry',
      description: 'First certificate to expire.',
      jsonPath: '.status.certificateExpiry',
      wide: true,
    },
  ],
});

export type ValkeyCluster = Resource<typeof valkeyCluster>;
export type ValkeyClusterSpec = z.output<typeof clusterSpec>;
export type ValkeyClusterSummary = z.output<typeof status>;
