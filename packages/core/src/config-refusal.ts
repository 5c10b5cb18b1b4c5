import type { EffectiveClusterSpec } from '@valkey-operator/api';
import {
  checkRestartOnlyValue,
  classifySetting,
  formatVersion,
  nearestSetting,
  parseMemorySize,
  parseVersion,
  type ValkeyVersion,
} from '@valkey-operator/valkey';
import { findUnannounceable } from './announced.ts';
import { fieldOfSetting, type NodeSettings } from './builders/settings.ts';
import { refuseUnreachable } from './replicas-for-writes.ts';
import type { TrialView } from './snapshot.ts';
import { formatMebibytes } from './status/mebibytes.ts';
import { isOwner, type Member } from './topology.ts';

/** Why settings cannot be put into effect. */
export interface ConfigRefusal {
  readonly reason: 'ConfigRejected' | 'DataDoesNotFit';
  readonly message: string;
}

export interface ConfigQuestion {
  readonly wanted: NodeSettings;
  readonly inEffect: NodeSettings;
  readonly spec: EffectiveClusterSpec;
  readonly members: readonly Member[];
  /** Of these very settings. */
  readonly trial?: TrialView | undefined;
}

const KEPT = 'Every node keeps its old settings.';

/** By what is known of the versions that run, or by the word of a node that has tried. */
export function findRefusal(question: ConfigQuestion): ConfigRefusal | undefined {
  const message = refuseContent(question);
  if (message) return { reason: 'ConfigRejected', message: `${message} ${KEPT}` };
  const overflow = refuseShrinking(question);
  return overflow === undefined ? undefined : { reason: 'DataDoesNotFit', message: `${overflow} ${KEPT}` };
}

function refuseContent({ wanted, inEffect, spec, members, trial }: ConfigQuestion): string | undefined {
  const unreachable = refuseUnreachable(spec);
  if (unreachable) return unreachable;
  const versions = new Map(members.map(({ report }) => [report.process.version ?? '', report.process.version]));
  for (const text of versions.keys()) {
    const version = parseVersion(text);
    const problem = version && judge(version, wanted, inEffect, spec);
    if (problem) return problem;
  }
  if (trial?.verdict === 'refused') return `Valkey does not start with these settings: ${trial.message}.`;
  const refusing = members.find(({ report }) => report.config.rejected?.hash === wanted.hash);
  const words = refusing?.report.config.rejected?.message;
  return refusing && words !== undefined ? quote(refusing, words, wanted, spec) : undefined;
}

function judge(
  version: ValkeyVersion,
  { settings, nodes }: NodeSettings,
  inEffect: NodeSettings,
  spec: EffectiveClusterSpec,
): string | undefined {
  const names = Object.keys(settings).toSorted();
  const unknown = names.find((name) => classifySetting(version, name) === 'unknown');
  if (unknown !== undefined) {
    const nearest = nearestSetting(version, unknown);
    const advice = nearest ? ` Did you mean ${nearest}?` : '';
    return `${fieldOfSetting(spec, unknown)} is no setting of Valkey ${formatVersion(version)}.${advice}`;
  }
  for (const name of names) {
    const value = settings[name] ?? '';
    const isNew = classifySetting(version, name) === 'immutable' && inEffect.settings[name] !== value;
    const problem = isNew ? checkRestartOnlyValue(name, value) : undefined;
    if (problem) return `${fieldOfSetting(spec, name)} is "${value}" and ${problem}.`;
  }
  const missing = findUnannounceable(nodes, version);
  return (
    missing &&
    `spec.services.external.type is NodePort, which takes ${missing}, and Valkey ${formatVersion(version)} does not have it: use LoadBalancer, or Valkey 9.1.`
  );
}

/** `CONFIG SET failed (possibly related to argument 'x') - argument must be ...` */
function quote({ pod }: Member, words: string, { settings }: NodeSettings, spec: EffectiveClusterSpec): string {
  const [, name] = /related to argument '([^']+)'/.exec(words) ?? [];
  const what = name === undefined ? 'the settings' : `${fieldOfSetting(spec, name)} = "${settings[name] ?? 'default'}"`;
  return `Valkey in pod ${pod.name} refuses ${what}: ${words}.`;
}

/**
 * Less memory than a primary uses for its data. At once every write would be refused, or keys that may go would: only where any may
 * is that what is asked for, and a cache that is full could never be made smaller otherwise.
 */
function refuseShrinking({ wanted, inEffect, spec, members }: ConfigQuestion): string | undefined {
  const { maxmemory = '0', 'maxmemory-policy': policy = 'noeviction' } = wanted.settings;
  const bytes = parseMemorySize(maxmemory) ?? 0;
  const before = parseMemorySize(inEffect.settings['maxmemory'] ?? '0') ?? 0;
  if (bytes === 0 || (before > 0 && before <= bytes) || policy.toLowerCase().startsWith('allkeys-')) return undefined;
  const usedBy = ({ report }: Member) => report.memory?.usedBytes ?? 0;
  const [fullest] = members.filter(isOwner).toSorted((a, b) => usedBy(b) - usedBy(a));
  if (!fullest || usedBy(fullest) <= bytes) return undefined;
  const field = fieldOfSetting(spec, 'maxmemory');
  return (
    `The data does not fit into a maxmemory of ${formatMebibytes(bytes)}, which ${field} asks for: primary ` +
    `${fullest.pod.name} uses ${formatMebibytes(usedBy(fullest))}. Raise ${field}, delete data, add shards by ` +
    'spec.masterCount, or choose a maxmemory-policy by which any key may go, such as allkeys-lru.'
  );
}
