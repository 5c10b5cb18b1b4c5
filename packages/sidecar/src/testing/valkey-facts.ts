import type { ClusterNode, PersistenceInfo, ReplicationInfo } from '@valkey-operator/valkey';
import type { ValkeyFacts } from '../valkey-facts.ts';
import type { ProcessView } from '../valkey-watch.ts';
import { aNode } from './cluster-nodes.ts';

export const NOW = new Date('2026-11-15T12:00:00Z');

export function aView(change: Partial<ProcessView> = {}): ProcessView {
  return {
    phase: 'running',
    since: NOW,
    hold: undefined,
    startedAt: NOW,
    restarts: 0,
    lastEnd: undefined,
    syncedOnce: true,
    unansweredSince: undefined,
    ...change,
  };
}

export interface FactsChange {
  readonly myself?: ClusterNode;
  readonly peers?: readonly ClusterNode[];
  readonly state?: 'ok' | 'fail';
  readonly link?: Partial<NonNullable<ReplicationInfo['primary']>>;
  readonly replicas?: ReplicationInfo['replicas'];
  readonly loading?: boolean;
  /** A child process writes the data down. */
  readonly writing?: boolean;
  readonly unborn?: boolean;
  readonly standIns?: readonly ClusterNode[];
}

const AT_REST: PersistenceInfo = {
  loading: false,
  asyncLoading: false,
  loadedPercent: undefined,
  rdbSaveInProgress: false,
  rdbLastSaveOk: true,
  rdbLastSaveAtSeconds: 0,
  changesSinceLastSave: 0,
  aofEnabled: true,
  aofRewriteInProgress: false,
  aofLastWriteOk: true,
  aofLastRewriteOk: true,
};

/** A primary with slots in a healthy cluster; with `link`, a replica. */
export function someFacts({
  myself,
  peers = [],
  state = 'ok',
  link,
  replicas = [],
  loading,
  writing,
  unborn = false,
  standIns = [],
}: FactsChange = {}): ValkeyFacts {
  const own = myself ?? aNode('me', { myself: true, slots: '0-99' });
  const primary = {
    host: '',
    port: 6379,
    up: true,
    syncInProgress: false,
    lastIoSeconds: 0,
    downSinceSeconds: undefined,
  };
  return {
    at: NOW,
    askedAt: 0,
    info: {
      server: { version: '9.1.2', runId: 'run', processId: 1, uptimeSeconds: 1, mode: 'cluster' },
      memory: undefined,
      persistence: writing ? { ...AT_REST, aofRewriteInProgress: true } : undefined,
      clusterEnabled: true,
      keyCount: 1,
      expiringHashCount: 0,
      replication: {
        role: link ? 'replica' : 'primary',
        replicationId: 'r',
        secondReplicationId: '',
        offset: 10,
        secondOffset: -1,
        failoverState: 'no-failover',
        replicas,
        primary: link ? { ...primary, ...link } : undefined,
      },
    },
    cluster: loading
      ? undefined
      : {
          info: {
            state,
            slotsAssigned: 16_384,
            slotsOk: 16_384,
            slotsSuspected: 0,
            slotsFailed: 0,
            knownNodes: 1 + peers.length,
            size: 3,
            currentEpoch: 7,
            myEpoch: own.configEpoch,
          },
          nodes: [own, ...peers],
          myself: own,
          shardId: 'shard',
          migrations: [],
          unborn,
          standIns,
        },
  };
}
