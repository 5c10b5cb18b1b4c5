import { describe, expect, it } from 'vitest';
import { UnexpectedReplyError } from './resp/value.ts';
import { parseSlotMigrations } from './slot-migrations.ts';
import { readRecordedReply } from './testdata/read-recording.ts';

describe('parseSlotMigrations on what Valkey 9.1 said', () => {
  it('reads the log of the source, newest first', () => {
    const migrations = parseSlotMigrations(readRecordedReply('slot-migrations-source-9.1'));
    expect(
      migrations.map(({ slots, operation, state, outcome }) => `${operation} ${slots.toString()} ${state} ${outcome}`),
    ).toEqual([
      'export 3-5000 waiting-to-snapshot running',
      'export 3-4,8-9 failed failed',
      'export 0-2 success success',
    ]);
    expect(migrations[1]?.message).toMatch(/can only be used on primary nodes\.$/);
  });

  it('reads the log of the target', () => {
    const migrations = parseSlotMigrations(readRecordedReply('slot-migrations-target-9.1'));
    expect(migrations.map(({ operation, outcome }) => `${operation} ${outcome}`)).toEqual([
      'import failed',
      'import success',
    ]);
    expect(migrations[0]?.sourceNode).toBe(migrations[1]?.sourceNode);
  });

  it('reads what a replica lists of its primary, without the two ends', () => {
    const entry = new Map<string, string | number>([
      ['name', 'd1da812ab4ec43e474f9895a19c88c1d40cf2fff'],
      ['operation', 'IMPORT'],
      ['slot_ranges', '9557-10921'],
      ['create_time', 1_794_761_659],
      ['last_update_time', 1_794_761_659],
      ['last_ack_time', 1_794_761_659],
      ['state', 'success'],
      ['message', ''],
      ['cow_size', 0],
      ['remaining_repl_size', 0],
    ]);
    expect(parseSlotMigrations([entry])).toMatchObject([{ operation: 'import', sourceNode: '', targetNode: '' }]);
  });

  it('reads the cancellation of the source', () => {
    const [cancelled] = parseSlotMigrations(readRecordedReply('slot-migrations-cancelled-9.1'));
    expect(cancelled).toMatchObject({ outcome: 'cancelled', operation: 'export' });
  });

  it('refuses another shape', () => {
    expect(() => parseSlotMigrations(['x'])).toThrow(UnexpectedReplyError);
  });
});
