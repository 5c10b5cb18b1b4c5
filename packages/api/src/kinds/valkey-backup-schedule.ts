import { conditions, observedGeneration } from '../conditions.ts';
import { age, defineKind, type Resource } from '../define-kind.ts';
import { cron } from '../schema/cron.ts';
import { duration } from '../schema/duration.ts';
import { flag, integer, object, text, timestamp } from '../schema/field.ts';
import { backupFields } from './valkey-backup.ts';

const spec = object('The schedule.', {
  ...backupFields,
  cron: cron('When a backup is taken, in UTC: "0 3 * * *".'),
  suspend: flag('Take no further backups for now.').default(false),
  retention: object('Which backups are kept. A backup that any of the limits keeps is kept.', {
    keepLast: integer('How many of the newest are kept.', { min: 1, max: 1000 }).optional(),
    expireAfter: duration('Age up to which backups are kept.').optional(),
  }).optional(),
});

export const valkeyBackupSchedule = defineKind({
  kind: 'ValkeyBackupSchedule',
  plural: 'valkeybackupschedules',
  shortNames: ['vbs'],
  description: 'Takes a ValkeyBackup of one cluster again and again, and deletes old ones.',
  installed: false,
  spec,
  status: object('What the schedule did.', {
    observedGeneration: observedGeneration.optional(),
    lastBackup: text('Newest ValkeyBackup.').optional(),
    lastScheduleTime: timestamp('When it was due.').optional(),
    lastSuccessTime: timestamp('When a backup last succeeded.').optional(),
    nextScheduleTime: timestamp('When the next one is due.').optional(),
    conditions: conditions.optional(),
  }),
  columns: [
    { name: 'Cluster', description: 'What is backed up.', jsonPath: '.spec.clusterRef.name' },
    { name: 'Cron', description: 'When, in UTC.', jsonPath: '.spec.cron' },
    { name: 'Suspended', description: 'Whether it rests.', jsonPath: '.spec.suspend', type: 'boolean' },
    {
      name: 'Last-Success',
      description: 'When a backup last succeeded.',
      jsonPath: '.status.lastSuccessTime',
      type: 'date',
    },
    age,
  ],
});

export type ValkeyBackupSchedule = Resource<typeof valkeyBackupSchedule>;
