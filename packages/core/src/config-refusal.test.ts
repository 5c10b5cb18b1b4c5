import { SlotSet } from '@valkey-operator/valkey';
import { describe, expect, it } from 'vitest';
import { buildSettings } from './builders/settings.ts';
import { findRefusal } from './config-refusal.ts';
import { bear } from './testing/settle.ts';
import { deriveTopology, type Member } from './topology.ts';

const snapshot = bear().snapshot();
const inEffect = buildSettings(snapshot.spec);

/** All nodes of one version, or one more of another. */
function membersOf(...versions: string[]): Member[] {
  return deriveTopology(snapshot).members.map((member, index) => {
    const version = versions[index] ?? versions[0]!;
    return { ...member, report: { ...member.report, process: { ...member.report.process, version } } };
  });
}

function judge(config: Record<string, string>, versions: string[], nodes = {}): string | undefined {
  const spec = { ...snapshot.spec, config };
  const question = { wanted: buildSettings(spec, nodes), inEffect, spec, members: membersOf(...versions) };
  return findRefusal(question)?.message;
}

describe('less memory than a primary uses', () => {
  const ask = (config: Record<string, string>, { used = 600_000_000, before = '900mb' } = {}) => {
    const members = membersOf('9.1.2').map((member, index) => ({
      ...member,
      report: { ...member.report, memory: { usedBytes: index === 1 ? used : 1, maxBytes: 0, keys: 1 } },
    }));
    const owned = members.map((member, index) => (index === 1 ? { ...member, slots: SlotSet.parse('0-9') } : member));
    const spec = { ...snapshot.spec, config };
    const known = buildSettings({ ...spec, config: { ...config, maxmemory: before } });
    return findRefusal({ wanted: buildSettings(spec), inEffect: known, spec, members: owned });
  };

  it('is refused, with the field that asks for it and a way out', () => {
    expect(ask({ maxmemory: '400mb' })).toEqual({
      reason: 'DataDoesNotFit',
      message:
        'The data does not fit into a maxmemory of 400 MiB, which spec.config["maxmemory"] asks for: primary demo-1 uses 572 MiB. Raise spec.config["maxmemory"], delete data, add shards by spec.masterCount, or choose a maxmemory-policy by which any key may go, such as allkeys-lru. Every node keeps its old settings.',
    });
    expect(ask({ maxmemory: '400mb' }, { before: '0' })).toMatchObject({ reason: 'DataDoesNotFit' });
    expect(ask({ maxmemory: '400mb', 'maxmemory-policy': 'volatile-lru' })).toMatchObject({ reason: 'DataDoesNotFit' });
  });

  it.each<[string, Parameters<typeof ask>]>([
    ['the data fits', [{ maxmemory: '400mb' }, { used: 400_000_000 }]],
    ['it is not less than before', [{ maxmemory: '400mb' }, { before: '300mb' }]],
    ['any key may go', [{ maxmemory: '400mb', 'maxmemory-policy': 'allkeys-lru' }]],
    ['there is no bound any more', [{ maxmemory: '0' }]],
  ])('is not meant where %s', (_what, question) => {
    expect(ask(...question)).toBeUndefined();
  });
});

describe('settings are refused', () => {
  it('when any of the versions that run does not know one', () => {
    expect(judge({ 'hash-seed': 'x' }, ['9.1.2'])).toBeUndefined();
    expect(judge({ 'hash-seed': 'x' }, ['9.1.2', '8.1.1'])).toBe(
      'spec.config["hash-seed"] is no setting of Valkey 8.1.1. Every node keeps its old settings.',
    );
  });

  it('by the version in which they take a restart', () => {
    expect(judge({ 'io-threads': '0' }, ['9.1.2'])).toBeUndefined();
    expect(judge({ 'io-threads': '0' }, ['8.1.1'])).toBe(
      'spec.config["io-threads"] is "0" and must be a whole number from 1 to 128. Every node keeps its old settings.',
    );
  });

  it('when a port cannot be announced to clients', () => {
    const nodes = { 'demo-0': { 'cluster-announce-client-port': '30000' } };
    expect(judge({}, ['9.1.2'], nodes)).toBeUndefined();
    expect(judge({}, ['8.1.1'], nodes)).toBe(
      'spec.services.external.type is NodePort, which takes cluster-announce-client-port, and Valkey 8.1.1 does not have it: use LoadBalancer, or Valkey 9.1. Every node keeps its old settings.',
    );
  });

  it('in the words of a node, with the field that a setting comes from', () => {
    const spec = { ...snapshot.spec, backup: { ...snapshot.spec.backup, database: { enabled: true, save: '1 1' } } };
    const wanted = buildSettings(spec);
    const [first, ...others] = membersOf('9.1.2');
    const rejected = { hash: wanted.hash, message: "CONFIG SET failed (possibly related to argument 'save') - no" };
    const config = { ...first!.report.config, rejected };
    const members = [{ ...first!, report: { ...first!.report, config } }, ...others];
    expect(findRefusal({ wanted, inEffect, spec, members })?.message).toBe(
      `Valkey in pod demo-0 refuses spec.backup.database.save = "1 1": ${rejected.message}. Every node keeps its old settings.`,
    );
  });
});
