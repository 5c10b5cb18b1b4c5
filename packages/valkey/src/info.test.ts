import { describe, expect, it } from 'vitest';
import { parseClusterInfo } from './cluster-info.ts';
import { MissingFieldError } from './fields.ts';
import { parseInfo } from './info.ts';
import { readRecordedText, recordedVersions } from './testdata/read-recording.ts';

describe.each(recordedVersions)('parseInfo on what Valkey %s said', (version) => {
  it('reads a primary with its replica', () => {
    const info = parseInfo(readRecordedText(`info-primary-${version}`));
    expect(info.server?.version.startsWith(`${version}.`)).toBe(true);
    expect(info.server).toMatchObject({ mode: 'cluster', runId: expect.stringMatching(/^[0-9a-f]{40}$/) });
    expect(info.replication).toMatchObject({
      role: 'primary',
      primary: undefined,
      failoverState: 'no-failover',
      replicas: [{ ip: '127.0.0.1', state: 'online', lagSeconds: expect.any(Number) }],
    });
    expect(info.memory).toMatchObject({ maxBytes: 0, maxMemoryPolicy: 'noeviction' });
    expect(info.memory?.usedBytes).toBeGreaterThan(1_000_000);
    expect(info.persistence).toMatchObject({ loading: false, rdbLastSaveOk: true, aofEnabled: false });
    expect(info.clusterEnabled).toBe(true);
    expect(info.keyCount).toBe(1);
  });

  it('reads a replica that follows its primary', () => {
    const { replication } = parseInfo(readRecordedText(`info-replica-${version}`));
    expect(replication).toMatchObject({
      role: 'replica',
      replicas: [],
      primary: { host: '127.0.0.1', up: true, syncInProgress: false, downSinceSeconds: undefined },
    });
    expect(replication?.offset).toBeGreaterThan(0);
  });

  it('reads a replica that lost its primary, with the offset that it reached', () => {
    const { replication } = parseInfo(readRecordedText(`info-replica-link-down-${version}`));
    expect(replication?.primary).toMatchObject({ up: false, downSinceSeconds: expect.any(Number) });
    expect(replication?.offset).toBeGreaterThan(0);
  });
});

describe('parseInfo', () => {
  it('leaves out the sections that are not there', () => {
    expect(parseInfo('# Cluster\r\ncluster_enabled:0\r\n')).toEqual({
      server: undefined,
      memory: undefined,
      persistence: undefined,
      replication: undefined,
      clusterEnabled: false,
      keyCount: undefined,
      expiringHashCount: undefined,
    });
  });

  it('adds up the keys of all databases, none when there is no line', () => {
    expect(
      parseInfo('# Keyspace\r\ndb0:keys=3,expires=0,avg_ttl=0\r\ndb2:keys=4,expires=1,avg_ttl=9\r\n').keyCount,
    ).toBe(7);
    expect(parseInfo('# Keyspace\r\n').keyCount).toBe(0);
  });

  it('counts hashes whose fields expire, where the version has them', () => {
    const line = 'db0:keys=3,expires=0,avg_ttl=0';
    expect(parseInfo(`# Keyspace\r\n${line},keys_with_volatile_items=2\r\n`).expiringHashCount).toBe(2);
    expect(parseInfo(`# Keyspace\r\n${line}\r\n`).expiringHashCount).toBe(0);
  });

  it('names the field that a section should have had', () => {
    expect(() => parseInfo('# Server\r\nredis_version:7.2.4\r\n')).toThrow(new MissingFieldError('valkey_version'));
  });
});

describe.each(recordedVersions)('parseClusterInfo on what Valkey %s said', (version) => {
  it('reads a healthy cluster', () => {
    expect(parseClusterInfo(readRecordedText(`cluster-info-${version}`))).toMatchObject({
      state: 'ok',
      slotsAssigned: 16_384,
      slotsOk: 16_384,
      slotsFailed: 0,
      knownNodes: 6,
      size: 3,
      myEpoch: 1,
    });
  });

  it('reads a cluster that lost a primary', () => {
    const info = parseClusterInfo(readRecordedText(`cluster-info-failed-${version}`));
    expect(info).toMatchObject({ state: 'fail', slotsFailed: 5461, slotsAssigned: 16_384, slotsOk: 10_923 });
  });
});
