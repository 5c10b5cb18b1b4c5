import {
  canSetLive,
  completeValue,
  defaultOfSetting,
  isSameValue,
  parseVersion,
  type RespValue,
  ValkeyError,
  type ValkeyVersion,
} from '@valkey-operator/valkey';
import type { Node } from './commands/effect.ts';
import type { MemoryFiles } from './node-memory.ts';
import type { NodeSettings } from './settings.ts';
import { HIDDEN, readValues, type Values } from './watched-settings.ts';

type Call = (...args: string[]) => Promise<RespValue>;

export interface SettingsInEffectOptions {
  readonly node: Pick<Node, 'call' | 'refresh'>;
  readonly memory: Pick<MemoryFiles, 'current' | 'update'>;
}

/** Reports may be made in quick succession; so often it is worth asking whether somebody has changed a setting. */
const LOOK_AGAIN_MS = 10_000;

/**
 * What Valkey runs with, as opposed to what lies on disk: the kubelet brings a changed ConfigMap up to a minute later, and
 * reads nothing back. The operator's command carries the settings and their hash; the file only counts for the next start.
 */
export class SettingsInEffect {
  readonly #options: SettingsInEffectOptions;
  readonly #call: Call;
  #drift: { name: string; is: string; should: string }[] = [];
  #lookedAt = 0;
  readonly #ownChanges = new Set<symbol>();
  #ownChangesBegun = 0;

  constructor(options: SettingsInEffectOptions) {
    this.#options = options;
    this.#call = (...args) => options.node.call(...args);
  }

  /** For the report. */
  get report() {
    const { running, rejected } = this.#options.memory.current;
    return {
      runningHash: running?.hash ?? '',
      restartFor: [...(running?.restartFor ?? [])],
      drift: this.#drift,
      rejectedHash: rejected?.hash ?? '',
      rejectedMessage: rejected?.message ?? '',
    };
  }

  /** Of a Valkey that has just been started. One that was there before its sidecar has been asked before. */
  async noteFirstAnswer(call: Call): Promise<void> {
    const { memory } = this.#options;
    const { running } = memory.current;
    if (!running || running.values) return;
    const values = await readValues(call, Object.keys(running.settings));
    await memory.update({ running: { ...running, values: withoutHidden(values) } });
  }

  /** This sidecar itself sets something for a moment, until what is returned is called: that is nobody's drift. */
  beginOwnChange(): () => void {
    const change = Symbol();
    this.#ownChanges.add(change);
    this.#ownChangesBegun += 1;
    return () => void this.#ownChanges.delete(change);
  }

  /** Whether somebody has changed something; asks Valkey only now and then. */
  async look(): Promise<void> {
    if (this.#ownChanges.size > 0 || Date.now() - this.#lookedAt < LOOK_AGAIN_MS) return;
    this.#lookedAt = Date.now();
    const { running } = this.#options.memory.current;
    if (!running?.values) return;
    const begun = this.#ownChangesBegun;
    const now = await readValues(this.#call, Object.keys(running.values));
    // What has been set meanwhile may be among it.
    if (begun === this.#ownChangesBegun) this.#drift = findDrift(running.values, now);
  }

  /** Makes Valkey run with these settings, or says in Valkey's words why it does not: then nothing has changed. */
  async put(wanted: NodeSettings): Promise<string | undefined> {
    const { memory, node } = this.#options;
    const { running } = memory.current;
    const version = parseVersion((await node.refresh()).info.server.version);
    if (!version) throw new ValkeyError('ERR the version of Valkey cannot be read');
    const names = [...Object.keys(wanted.settings), ...Object.keys(running?.settings ?? {})];
    const before = await readValues(this.#call, names);
    const { live, restartFor } = this.#compare(version, wanted, before);
    const refusal = await trySet(this.#call, live, before, Object.keys(wanted.settings));
    if (refusal !== undefined) {
      await memory.update({ rejected: { hash: wanted.hash, message: refusal } });
      return refusal;
    }
    const values = await readValues(this.#call, Object.keys(wanted.settings));
    // A refusal stands until settings are taken: the operator learns of it from the report, however late.
    await memory.update({ running: { ...wanted, values: withoutHidden(values), restartFor }, rejected: undefined });
    this.#drift = [];
    return undefined;
  }

  /** What has to be set for that, and what a restart has to bring. */
  #compare(version: ValkeyVersion, { settings }: NodeSettings, before: Values) {
    const { running } = this.#options.memory.current;
    const removed = Object.keys(running?.settings ?? {}).filter((name) => !(name in settings));
    const unnamed = Object.entries(before).filter(([name]) => !(name in settings));
    const wanted = new Map<string, string | undefined>([
      ...unnamed.map(([name, now]) => [name, running?.values?.[name] ?? now] as const),
      ...removed.map((name) => [name, defaultOfSetting(version, name)] as const),
      ...Object.entries(settings).map(
        ([name, value]) => [name, completeValue(name, [value].flat().join(' '))] as const,
      ),
    ]);
    const isDifferent = ([name, value]: [string, string | undefined]) => {
      const now = before[name];
      return value === undefined || now === undefined ? name in settings : !isSameValue(name, now, value);
    };
    const different = [...wanted].filter(isDifferent);
    // Under an old name and its new one there is one value, and the last in a CONFIG SET counts: what is named comes last.
    const isAnyGone = different.some(([name]) => removed.includes(name));
    const told = [...wanted].filter((entry) => isDifferent(entry) || (isAnyGone && entry[0] in settings));
    const canBeSet = ([name, value]: [string, string | undefined]) => value !== undefined && canSetLive(version, name);
    return {
      live: Object.fromEntries(told.filter(canBeSet)) as Record<string, string>,
      restartFor: different.filter((entry) => !canBeSet(entry)).map(([name]) => name),
    };
  }
}

/** One CONFIG SET of all values: Valkey takes all of them or none. What is named and reads back as something else is taken back. */
async function trySet(call: Call, live: Values, before: Values, named: readonly string[]): Promise<string | undefined> {
  const names = Object.keys(live);
  if (names.length === 0) return undefined;
  try {
    await call('CONFIG', 'SET', ...Object.entries(live).flat());
  } catch (error) {
    // Another error, such as BUSY, says nothing of the values.
    if (error instanceof ValkeyError && error.code === 'ERR') return error.message.replace(/^ERR /, '');
    throw error;
  }
  const after = await readValues(call, names);
  const other = names.find((name) => named.includes(name) && !isSameValue(name, after[name] ?? '', live[name] ?? ''));
  if (other === undefined) return undefined;
  await call('CONFIG', 'SET', ...names.flatMap((name) => (before[name] === HIDDEN ? [] : [name, before[name] ?? ''])));
  return `Valkey makes ${after[other]} of it (possibly related to argument '${other}')`;
}

/** No secret is ever what should be. */
function withoutHidden(values: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== HIDDEN));
}

function findDrift(should: Values, is: Values) {
  return Object.entries(should).flatMap(([name, value]) =>
    is[name] === undefined || is[name] === value ? [] : [{ name, is: is[name], should: value }],
  );
}
