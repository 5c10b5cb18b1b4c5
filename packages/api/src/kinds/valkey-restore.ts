import { conditions, observedGeneration } from '../conditions.ts';
import { age, defineKind, phase, type Resource } from '../define-kind.ts';
import { backupStore, encryption } from '../fields/backup-store.ts';
import { choice, integer, object, text, timestamp } from '../schema/field.ts';
import { deploymentName, objectName } from '../schema/name.ts';
import { exactlyOneOf, immutableSpec } from '../schema/rule.ts';
import { clusterSpec } from './valkey-cluster.ts';

const source = object(
  'What is restored.',
  {
    backupRef: object('A ValkeyBackup in this namespace.', { name: objectName('Its name.') }).optional(),
    location: object('Files of a backup whose object is gone.', {
      store: backupStore('Where the files are.'),
      backup: text('Name the backup had.'),
    }).optional(),
  },
  { rules: [exactlyOneOf(['backupRef', 'location'])] },
);

const spec = object(
  'The restore. Immutable after creation.',
  {
    source,
    encryption: encryption.optional(),
    cluster: object('The new ValkeyCluster. It may have another number of shards than the backup.', {
      name: deploymentName('Its name; it must not exist yet.'),
      spec: clusterSpec,
    }),
  },
  { rules: [immutableSpec('ValkeyRestore')] },
);

export const valkeyRestore = defineKind({
  kind: 'ValkeyRestore',
  plural: 'valkeyrestores',
  shortNames: ['vr'],
  description: 'Creates a new ValkeyCluster from a backup. Checksums are verified before a key is loaded.',
  installed: false,
  spec,
  status: object('The progress.', {
    observedGeneration: observedGeneration.optional(),
    phase: choice('One-word summary.', ['Pending', 'Verifying', 'Running', 'Succeeded', 'Failed']).optional(),
    bytesRestored: integer('How much is loaded.').optional(),
    bytesTotal: integer('How much there is.').optional(),
    startedAt: timestamp('When it began.').optional(),
    completedAt: timestamp('When it ended.').optional(),
    conditions: conditions.optional(),
  }),
  columns: [
    { name: 'Backup', description: 'What is restored.', jsonPath: '.spec.source.backupRef.name' },
    { name: 'Cluster', description: 'The new cluster.', jsonPath: '.spec.cluster.name' },
    phase,
    age,
  ],
});

export type ValkeyRestore = Resource<typeof valkeyRestore>;
