import { expectArray, expectInteger, expectMap, expectText, type RespValue } from './resp/value.ts';
import { SlotSet } from './slots/slot-set.ts';

/** One entry of CLUSTER GETSLOTMIGRATIONS (9.x). The log lives in memory and is lost when the source fails over. */
export interface SlotMigration {
  readonly name: string;
  readonly operation: 'export' | 'import';
  readonly slots: SlotSet;
  /** Replicas list what their primary imports, but not between whom: then both are empty. */
  readonly sourceNode: string;
  readonly targetNode: string;
  /** Valkey's own word for the step it is in, for people; decide by `outcome`. */
  readonly state: string;
  readonly outcome: 'running' | 'success' | 'failed' | 'cancelled';
  /** Why it failed; empty otherwise. */
  readonly message: string;
  readonly createdAtSeconds: number;
  readonly updatedAtSeconds: number;
  readonly remainingBytes: number;
}

export function parseSlotMigrations(reply: RespValue): SlotMigration[] {
  return expectArray(reply).map((entry) => {
    const fields = expectMap(entry);
    const state = expectText(fields.get('state'));
    return {
      name: expectText(fields.get('name')),
      operation: expectText(fields.get('operation')) === 'EXPORT' ? 'export' : 'import',
      slots: SlotSet.parse(expectText(fields.get('slot_ranges'))),
      sourceNode: expectText(fields.get('source_node') ?? ''),
      targetNode: expectText(fields.get('target_node') ?? ''),
      state,
      outcome: state === 'success' || state === 'failed' || state === 'cancelled' ? state : 'running',
      message: expectText(fields.get('message')).trim(),
      createdAtSeconds: expectInteger(fields.get('create_time')),
      updatedAtSeconds: expectInteger(fields.get('last_update_time')),
      remainingBytes: expectInteger(fields.get('remaining_repl_size')),
    };
  });
}
