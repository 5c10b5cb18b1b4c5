import { conditions, observedGeneration } from '../conditions.ts';
import { age, defineKind, phase, type Resource } from '../define-kind.ts';
import { clusterRef } from '../fields/cluster-ref.ts';
import { image } from '../fields/image.ts';
import { duration } from '../schema/duration.ts';
import { choice, flag, integer, list, object, text } from '../schema/field.ts';
import { exactlyOneOf, immutableSpec, matches } from '../schema/rule.ts';

const spec = object(
  'The upgrade. Immutable after creation.',
  {
    clusterRef,
    targetVersion: text('Version to reach: "9.1". The image keeps its name.', {
      max: 32,
      rules: [matches('^[0-9]+[.][0-9]+([.][0-9]+)?$', 'must be a version such as "9.1" or "9.1.2"')],
    }).optional(),
    image: image('Image to reach, when its name changes too.').optional(),
    rollbackOnFailure: flag('Go back to the old image when a step fails; else hold and wait for a person.').default(
      true,
    ),
    podReadyTimeout: duration('How long a pod may take to become ready.').default('10m'),
    replicationSyncTimeout: duration('How long a replica may take to be in sync.').default('1h'),
  },
  { rules: [exactlyOneOf(['targetVersion', 'image']), immutableSpec('ValkeyUpgrade')] },
);

const shard = object('A shard and how far it is.', {
  shard: text('Id of the shard.', { max: 64 }),
  step: choice('How far it is.', [
    'Waiting',
    'UpgradingReplicas',
    'SyncingReplicas',
    'FailingOver',
    'UpgradingPrimary',
    'Done',
    'RolledBack',
  ]),
  from: text('Version before.', { max: 64 }).optional(),
  to: text('Version after.', { max: 64 }).optional(),
});

export const valkeyUpgrade = defineKind({
  kind: 'ValkeyUpgrade',
  plural: 'valkeyupgrades',
  shortNames: ['vu'],
  description:
    'An upgrade of one ValkeyCluster as an object, with its progress. One at a time per cluster; others queue.',
  installed: true,
  spec,
  status: object('The progress.', {
    observedGeneration: observedGeneration.optional(),
    phase: choice('One-word summary.', [
      'Queued',
      'Running',
      'Succeeded',
      'RollingBack',
      'RolledBack',
      'Failed',
    ]).optional(),
    target: text('Version or image to reach, in a word.', { max: 512 }).optional(),
    insteadOf: text('The image in the spec of the cluster when it began; while that stays, the target counts.', {
      max: 512,
    }).optional(),
    shardsDone: integer('Shards that are done.').optional(),
    shards: list('Every shard.', shard, { max: 500, key: 'shard' }).optional(),
    conditions: conditions.optional(),
  }),
  columns: [
    { name: 'Cluster', description: 'What is upgraded.', jsonPath: '.spec.clusterRef.name' },
    { name: 'Target', description: 'Version or image to reach.', jsonPath: '.status.target' },
    phase,
    { name: 'Shards', description: 'Shards that are done.', jsonPath: '.status.shardsDone', type: 'integer' },
    age,
  ],
});

export type ValkeyUpgrade = Resource<typeof valkeyUpgrade>;
