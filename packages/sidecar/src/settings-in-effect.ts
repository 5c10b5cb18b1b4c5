import {
  canSetLive,
  defaultOfSetting,
  expectMap,
  expectText,
  isSameValue,
  parseVersion,
  type RespValue,
  ValkeyError,
  type ValkeyVersion,
} from '@valkey-operator/valkey';
import type { Node } from './commands/effect.ts';
import type { MemoryFiles } from './node-memory.ts';
import type { NodeSettings } from './settings.ts';

type Call = (...args: string[]) => Promise<RespValue>;
type Values = Readonly<Record<string, string>>;

export interface SettingsInEffectOptions {
  readonly node: Pick<Node, 'call' | 'refresh'>;
  readonly memory: Pick<MemoryFiles, 'current' | 'update'>;
  /** Directives that are not in the settings but belong to the node: they are watched, and put back, with them. */
  readonly owned: readonly string[];
}

/** Reports may be made in quick succession; so often it is worth asking whether somebody has changed a setting. */
const LOOK_AGAIN_MS = 10_000;
/** The sidecar itself makes it short for a moment (short-rejoin.ts). */
const RESTLESS = 'cluster-node-timeout';

/**
 * What Valkey runs with, as opposed to what lies on disk: the kubelet brings a changed ConfigMap up to a minute later, and
 * reads nothing back. The operator's command carries the settings and their hash; the file only counts for the next start.
 */
export class SettingsInEffect {
  readonly #options: SettingsInEffectOptions;
  readonly #owned: readonly string[];
  readonly #call: Call;
  #drift: { name: string; is: string; should: string }[] = [];
  #lookedAt = 0;

  constructor(options: SettingsInEffectOptions) {
    this.#options = options;
    this.#call = (...args) => options.node.call(...args);
    this.#owned = options.owned.filter((name) => name !== RESTLESS);
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
    const values = await readValues(call, this.#namesOf(running));
    await memory.update({ running: { ...running, values } });
  }

  /** Whether somebody has changed something; asks Valkey only now and then. */
  async look(): Promise<void> {
    if (Date.now() - this.#lookedAt < LOOK_AGAIN_MS) return;
    this.#lookedAt = Date.now();
    const { running } = this.#options.memory.current;
    if (!running?.values) return;
    const now = await readValues(this.#call, Object.keys(running.values));
    this.#drift = findDrift(running.values, now);
  }

  /** Makes Valkey run with these settings, or says in Valkey's words why it does not: then nothing has changed. */
  async put(wanted: NodeSettings): Promise<string | undefined> {
    const { memory, node } = this.#options;
    const { running } = memory.current;
    const version = parseVersion((await node.refresh()).info.server.version);
    if (!version) throw new ValkeyError('ERR the version of Valkey cannot be read');
    const names = [...new Set([...this.#namesOf(wanted), ...Object.keys(running?.settings ?? {})])];
    const before = await readValues(this.#call, names);
    const { live, restartFor } = this.#compare(version, wanted, before);
    const refusal = await trySet(this.#call, live, before);
    if (refusal !== undefined) {
      await memory.update({ rejected: { hash: wanted.hash, message: refusal } });
      return refusal;
    }
    const values = await readValues(this.#call, this.#namesOf(wanted));
    // A refusal stands until settings are taken: the operator learns of it from the report, however late.
    await memory.update({ running: { ...wanted, values, restartFor }, rejected: undefined });
    this.#drift = [];
    return undefined;
  }

  /** What has to be set for that, and what a restart has to bring. */
  #compare(version: ValkeyVersion, { settings }: NodeSettings, before: Values) {
    const { running } = this.#options.memory.current;
    const removed = Object.keys(running?.settings ?? {}).filter((name) => !(name in settings));
    const own = this.#owned.filter((name) => !(name in settings));
    const wanted = new Map<string, string | undefined>([
      ...own.map((name) => [name, running?.values?.[name] ?? before[name]] as const),
      ...removed.map((name) => [name, defaultOfSetting(version, name)] as const),
      ...Object.entries(settings).map(([name, value]) => [name, [value].flat().join(' ')] as const),
    ]);
    const different = [...wanted].filter(([name, value]) => {
      const now = before[name];
      return value === undefined || now === undefined ? name in settings : !isSameValue(name, now, value);
    });
    const canBeSet = ([name, value]: [string, string | undefined]) => value !== undefined && canSetLive(version, name);
    return {
      live: Object.fromEntries(different.filter(canBeSet)) as Record<string, string>,
      restartFor: different.filter((entry) => !canBeSet(entry)).map(([name]) => name),
    };
  }

  #namesOf({ settings }: NodeSettings): string[] {
    return [...new Set([...this.#owned, ...Object.keys(settings)])];
  }
}

/** One CONFIG SET of all values: Valkey takes all of them or none. What reads back as something else is taken back. */
async function trySet(call: Call, live: Values, before: Values): Promise<string | undefined> {
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
  const [other] = names.filter((name) => !isSameValue(name, after[name] ?? '', live[name] ?? ''));
  if (other === undefined) return undefined;
  await call('CONFIG', 'SET', ...names.flatMap((name) => [name, before[name] ?? '']));
  return `Valkey makes ${after[other]} of it (possibly related to argument '${other}')`;
}

async function readValues(call: Call, names: readonly string[]): Promise<Record<string, string>> {
  if (names.length === 0) return {};
  const answer = expectMap(await call('CONFIG', 'GET', ...names));
  return Object.fromEntries(Array.from(answer, ([name, value]) => [expectText(name), expectText(value)]));
}

function findDrift(should: Values, is: Values) {
  return Object.entries(should).flatMap(([name, value]) =>
    is[name] === undefined || is[name] === value ? [] : [{ name, is: is[name], should: value }],
  );
}
