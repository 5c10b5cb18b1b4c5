import { conditions, observedGeneration } from '../conditions.ts';
import { age, defineKind, phase as phaseColumn, ready, reason, type Resource } from '../define-kind.ts';
import { phase } from '../fields/feature-status.ts';
import { nodeDefaults, nodeOwn, nodeRules, nodeTransitions } from '../fields/node-spec.ts';
import { orchestration } from '../fields/orchestration.ts';
import { duration } from '../schema/duration.ts';
import { choice, flag, integer, list, object, text, timestamp } from '../schema/field.ts';
import { objectName, validDeploymentName } from '../schema/name.ts';
import type { Rule } from '../schema/rule.ts';

const localOrRemote: Rule = {
  rule: '(has(self.local) && self.local) != has(self.kubeconfigSecretRef)',
  message: 'must be either local: true or name a kubeconfigSecretRef',
};

const region = object(
  'A region, that is one Kubernetes cluster.',
  {
    name: text('Name of the region.', { max: 63 }),
    local: flag('The Kubernetes cluster that this object is in.').optional(),
    kubeconfigSecretRef: object('Secret with the key kubeconfig, for a remote Kubernetes cluster.', {
      name: objectName('Name of the Secret.'),
    }).optional(),
    masters: integer('Primaries that live here while the region is the primary one.', { min: 0, max: 500 }),
    replicasPerMaster: integer('Replicas per primary in this region.', { min: 0, max: 5 }),
  },
  { rules: [localOrRemote] },
);

const primaryRegionExists: Rule = {
  rule: 'self.regions.exists(region, region.name == self.primaryRegion)',
  message: 'must be the name of one of the regions',
  fieldPath: '.primaryRegion',
};

const oneLocalRegion: Rule = {
  rule: 'self.regions.exists_one(region, has(region.local) && region.local)',
  message: 'must have exactly one region with local: true',
  fieldPath: '.regions',
};

const spec = object(
  'One Valkey cluster stretched over regions.',
  {
    regions: list('The regions.', region, { max: 8, key: 'name' }),
    primaryRegion: text('Where the primaries are. Changing it is a planned switchover, without loss.', { max: 63 }),
    switchover: object('How a planned change of the primary region runs.', {
      timeout: duration('How long it may wait for replicas to catch up before it gives up.').default('10m'),
    }).prefault({}),
    failover: object('What happens when the primary region is lost. Writes that had not left it are lost with it.', {
      policy: choice('Manual: a person decides. Automatic: after the region was lost for a while.', [
        'Manual',
        'Automatic',
      ]).default('Manual'),
      after: duration('With Automatic: how long the region must have been lost.').default('5m'),
    }).prefault({}),
    ...nodeDefaults,
    ...nodeOwn,
  },
  { rules: [primaryRegionExists, oneLocalRegion, ...nodeRules, ...nodeTransitions] },
);

export const valkeyMultiCluster = defineKind({
  kind: 'ValkeyMultiCluster',
  plural: 'valkeymulticlusters',
  shortNames: ['vmc'],
  description: 'One Valkey cluster over several regions, each a Kubernetes cluster.',
  installed: false,
  spec,
  rules: validDeploymentName,
  status: object('What the deployment is.', {
    phase: phase.optional(),
    observedGeneration: observedGeneration.optional(),
    primaryRegion: text('Where the primaries are now.', { max: 63 }).optional(),
    regions: list(
      'Every region.',
      object('A region.', {
        name: text('Name of the region.', { max: 63 }),
        reachable: flag('Whether its Kubernetes cluster answers.'),
        masters: text('Primaries ready of those wanted: 3/3.', { max: 16 }).optional(),
        replicas: text('Replicas ready of those wanted: 3/3.', { max: 16 }).optional(),
        lagBytes: integer('Bytes that the region is behind.').optional(),
        lastSeen: timestamp('When it last answered.').optional(),
      }),
      { max: 8, key: 'name' },
    ).optional(),
    orchestration: orchestration.optional(),
    conditions: conditions.optional(),
  }),
  columns: [
    ready,
    phaseColumn,
    { name: 'Primary-Region', description: 'Where the primaries are.', jsonPath: '.status.primaryRegion' },
    { name: 'Operation', description: 'What the operator is doing.', jsonPath: '.status.orchestration.kind' },
    age,
    reason,
  ],
});

export type ValkeyMultiCluster = Resource<typeof valkeyMultiCluster>;
