import { conditions, observedGeneration } from '../conditions.ts';
import { age, defineKind, phase, type Resource } from '../define-kind.ts';
import { backedUpShard, backupStore, encryption } from '../fields/backup-store.ts';
import { clusterRef } from '../fields/cluster-ref.ts';
import { duration } from '../schema/duration.ts';
import { choice, integer, list, object, text, timestamp } from '../schema/field.ts';
import { immutableSpec } from '../schema/rule.ts';

/** What a single backup and each of a schedule have in common. */
export const backupFields = {
  clusterRef,
  destination: backupStore('Where the backup is kept.'),
  encryption: encryption.optional(),
};

const spec = object(
  'The backup. Immutable after creation.',
  {
    ...backupFields,
    retention: object('How long the backup is kept.', {
      expireAfter: duration('Age at which it is deleted, with its files; none: kept.').optional(),
    }).optional(),
  },
  { rules: [immutableSpec('ValkeyBackup')] },
);

export const valkeyBackup = defineKind({
  kind: 'ValkeyBackup',
  plural: 'valkeybackups',
  shortNames: ['vb'],
  description: 'One backup of one ValkeyCluster, taken on replicas.',
  installed: false,
  spec,
  status: object('The progress and what was stored.', {
    observedGeneration: observedGeneration.optional(),
    phase: choice('One-word summary.', ['Pending', 'Running', 'Succeeded', 'Failed']).optional(),
    shards: list('Every shard.', backedUpShard, { max: 500 }).optional(),
    totalBytes: integer('Size of all files.').optional(),
    version: text('Version of Valkey that wrote the files.', { max: 64 }).optional(),
    startedAt: timestamp('When it began.').optional(),
    completedAt: timestamp('When it ended.').optional(),
    conditions: conditions.optional(),
  }),
  columns: [
    { name: 'Cluster', description: 'What is backed up.', jsonPath: '.spec.clusterRef.name' },
    phase,
    { name: 'Bytes', description: 'Size of all files.', jsonPath: '.status.totalBytes', type: 'integer' },
    { name: 'Completed', description: 'When it ended.', jsonPath: '.status.completedAt', type: 'date' },
    age,
  ],
});

export type ValkeyBackup = Resource<typeof valkeyBackup>;
