import { choice, flag, integer, object, text } from '../schema/field.ts';
import { matches } from '../schema/rule.ts';

const save = text('When to save: pairs of seconds and changes, such as "3600 1 300 100".', {
  max: 128,
  rules: [
    matches(
      '^[1-9][0-9]* [1-9][0-9]*( [1-9][0-9]* [1-9][0-9]*)*$',
      'must be pairs of seconds and changes, such as "60 100"',
    ),
  ],
});

const size = text('The AOF is not rewritten below this size: 64mb.', {
  max: 24,
  rules: [matches('^[1-9][0-9]*([kKmMgG]?[bB]?)$', 'must be a size as Valkey writes it, such as 64mb')],
});

/** Named `backup` by the seeds; remote backups are the kind ValkeyBackup. */
export const persistence = object(
  'What Valkey writes to its own volume: RDB snapshots and the append-only file. For copies elsewhere see ValkeyBackup. Applied without a restart.',
  {
    database: object('RDB snapshots.', {
      enabled: flag('Whether snapshots are taken.').optional(),
      save: save.optional(),
    }).optional(),
    aof: object('Append-only file.', {
      enabled: flag('Whether every write is appended to a file.').optional(),
      appendfsync: choice('When the file is flushed to disk. Put "no" in quotes, or YAML reads it as false.', [
        'always',
        'everysec',
        'no',
      ]).optional(),
      autoAofRewritePercentage: integer('Growth in percent after which the file is rewritten; 0: never.', {
        min: 0,
        max: 10_000,
      }).optional(),
      autoAofRewriteMinSize: size.optional(),
    }).optional(),
  },
);
