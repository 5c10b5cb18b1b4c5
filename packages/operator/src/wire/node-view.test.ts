import { durationFromMs, timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  CertificatePurpose,
  ClusterState,
  DataState,
  GateReason,
  LinkState,
  MoveState,
  ProcessState,
  Role,
} from '@valkey-operator/rpc';
import { describe, expect, test } from 'vitest';
import { aReport } from '../testing/builders.ts';
import { toNodeView } from './node-view.ts';

describe('toNodeView', () => {
  test('takes nothing for granted that a report does not say', () => {
    expect(toNodeView(aReport(), 5, false)).toEqual({
      receivedAt: 5,
      live: false,
      process: { state: 'unknown', restarts: 0 },
      config: { runningHash: '', renderedHash: '', message: '' },
      dataState: 'unknown',
      ready: false,
      message: '',
    });
  });

  test('says what a replica that runs has told', () => {
    const report = aReport({
      process: { state: ProcessState.RUNNING, version: '9.1.0', runId: 'r1', restarts: 2 },
      cluster: {
        nodeId: 'b',
        shardId: 's',
        role: Role.REPLICA,
        primaryId: 'a',
        configEpoch: 3n,
        currentEpoch: 4n,
        state: ClusterState.OK,
        slotsAssigned: 16384,
        slotsOk: 16384,
        nodes: [
          {
            id: 'a',
            ip: '10.0.0.1',
            port: 6379,
            flags: ['master'],
            slots: '0-100',
            linkConnected: true,
            configEpoch: 3n,
          },
          { id: 'b', ip: '10.0.0.2', port: 6379, hostname: 'demo-1.x', flags: ['myself', 'slave'], primaryId: 'a' },
        ],
        openSlots: [
          { slot: 7, direction: { case: 'importingFrom', value: 'a' } },
          { slot: 8, direction: { case: 'migratingTo', value: 'a' } },
          { slot: 9 },
        ],
        migrations: [
          { slots: '0-9', sourceId: 'b', targetId: 'a', state: 'replicating' },
          { slots: '20', sourceId: 'b', targetId: 'a', state: 'success' },
          { slots: '30', sourceId: 'a', targetId: 'b', state: 'replicating' },
        ],
      },
      slotMove: {
        state: MoveState.FAILED,
        targetId: 'a',
        slots: '0-9',
        movedSlots: 5,
        movedKeys: 50n,
        leftKeys: 100n,
        elapsed: durationFromMs(1500),
        overFor: durationFromMs(300),
        failures: 2,
        message: 'no',
        notableKeys: ['"k"'],
      },
      replication: { offset: 42n, link: LinkState.UP, syncedOnce: true },
      memory: { usedBytes: 10n, maxBytes: 20n, keys: 3n },
      persistence: { aofRewriteInProgress: true },
      config: { runningHash: 'h1', renderedHash: 'h2', message: 'restart due' },
      data: { state: DataState.IDENTITY_ONLY },
      certificates: [
        { purpose: CertificatePurpose.TLS, thumbprint: 'not this' },
        { purpose: CertificatePurpose.MTLS, thumbprint: 'this', notAfter: timestampFromMs(1000) },
      ],
      readiness: { ready: true, message: 'in sync' },
    });
    expect(toNodeView(report, 5, true)).toEqual({
      receivedAt: 5,
      live: true,
      process: { state: 'running', version: '9.1.0', runId: 'r1', restarts: 2 },
      cluster: {
        nodeId: 'b',
        shardId: 's',
        role: 'replica',
        primaryId: 'a',
        configEpoch: 3,
        currentEpoch: 4,
        stateOk: true,
        slots: '',
        slotsAssigned: 16384,
        slotsOk: 16384,
        nodes: [
          {
            id: 'a',
            ip: '10.0.0.1',
            port: 6379,
            flags: ['master'],
            configEpoch: 3,
            linkConnected: true,
            slots: '0-100',
          },
          {
            id: 'b',
            ip: '10.0.0.2',
            port: 6379,
            hostname: 'demo-1.x',
            flags: ['myself', 'slave'],
            primaryId: 'a',
            configEpoch: 0,
            linkConnected: false,
            slots: '',
          },
        ],
        openSlots: [{ slot: 7, importingFrom: 'a' }, { slot: 8, migratingTo: 'a' }, { slot: 9 }],
        exports: [{ slots: '0-9', targetId: 'a' }],
      },
      replication: { offset: 42, linkUp: true, syncInProgress: false, syncedOnce: true },
      memory: { usedBytes: 10, maxBytes: 20, keys: 3 },
      rewritesFile: true,
      move: {
        state: 'failed',
        targetId: 'a',
        slots: '0-9',
        movedSlots: 5,
        movedKeys: 50,
        leftKeys: 100,
        elapsedMs: 1500,
        overForMs: 300,
        failures: 2,
        message: 'no',
        notableKeys: ['"k"'],
      },
      config: { runningHash: 'h1', renderedHash: 'h2', message: 'restart due' },
      dataState: 'identity-only',
      certificate: { thumbprint: 'this', notAfter: 1000 },
      ready: true,
      message: 'in sync',
    });
  });

  test('names why a start waits', () => {
    const gate = { reason: GateReason.REPLICA_MAY_HAVE_MORE_DATA, message: 'wait', since: timestampFromMs(9) };
    const { process } = toNodeView(aReport({ process: { state: ProcessState.GATED, gate } }), 0, true);
    expect(process.state).toBe('gated');
    expect(process.gate).toEqual({ reason: 'REPLICA_MAY_HAVE_MORE_DATA', message: 'wait', since: 9 });
  });

  test('does not take a node of unknown role for a primary', () => {
    const view = toNodeView(aReport({ cluster: { nodeId: 'a', slots: '0-16383' } }), 0, true);
    expect(view.cluster).toBeUndefined();
  });

  test.each(Object.entries(ProcessState).filter(([name]) => name !== 'UNSPECIFIED'))(
    'has a word for the process state %s',
    (name, state) => {
      expect(toNodeView(aReport({ process: { state } }), 0, true).process.state).toBe(name.toLowerCase());
    },
  );

  test('calls unknown what a sidecar of a later version says', () => {
    const later = 99 as number;
    const process = { state: later as ProcessState, gate: { reason: later as GateReason } };
    const view = toNodeView(aReport({ process, data: { state: later as DataState } }), 0, true);
    expect(view.process).toMatchObject({ state: 'unknown', gate: { reason: 'unknown' } });
    expect(view.dataState).toBe('unknown');
  });
});
