import { parseFields, requireNumber, requireText } from './fields.ts';

export interface ClusterInfo {
  readonly state: 'ok' | 'fail';
  readonly slotsAssigned: number;
  readonly slotsOk: number;
  readonly slotsSuspected: number;
  readonly slotsFailed: number;
  readonly knownNodes: number;
  /** Primaries that own at least one slot: the voters. */
  readonly size: number;
  readonly currentEpoch: number;
  readonly myEpoch: number;
}

export function parseClusterInfo(text: string): ClusterInfo {
  const fields = parseFields(text);
  return {
    state: requireText(fields, 'cluster_state') === 'ok' ? 'ok' : 'fail',
    slotsAssigned: requireNumber(fields, 'cluster_slots_assigned'),
    slotsOk: requireNumber(fields, 'cluster_slots_ok'),
    slotsSuspected: requireNumber(fields, 'cluster_slots_pfail'),
    slotsFailed: requireNumber(fields, 'cluster_slots_fail'),
    knownNodes: requireNumber(fields, 'cluster_known_nodes'),
    size: requireNumber(fields, 'cluster_size'),
    currentEpoch: requireNumber(fields, 'cluster_current_epoch'),
    myEpoch: requireNumber(fields, 'cluster_my_epoch'),
  };
}
