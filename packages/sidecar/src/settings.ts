import { watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Directives that follow from the spec of the cluster; a list is a directive that is given several times. */
export interface NodeSettings {
  readonly hash: string;
  readonly settings: Directives;
}

type Directives = Readonly<Record<string, string | readonly string[]>>;

export type SettingsVerdict =
  | { readonly ok: true; readonly value: NodeSettings }
  | { readonly ok: false; readonly message: string };

/** The settings of all nodes, and those that this pod has beside them. */
export async function readSettings(file: string, pod = ''): Promise<SettingsVerdict> {
  try {
    return parseSettings(await readFile(file, 'utf8'), pod);
  } catch (error) {
    return { ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}

export function parseSettings(text: string, pod = ''): SettingsVerdict {
  const refuse = (message: string) => ({ ok: false, message: `settings.json: ${message}` }) as const;
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    return refuse('is not JSON');
  }
  if (!isRecord(document) || typeof document['hash'] !== 'string' || !isRecord(document['settings'])) {
    return refuse('must hold hash and settings');
  }
  const nodes = isRecord(document['nodes']) ? document['nodes'] : {};
  const own = isRecord(nodes[pod]) ? nodes[pod] : {};
  const settings = { ...document['settings'], ...own };
  const strange = Object.entries(settings).find(([, value]) => !isDirectiveValue(value));
  if (strange) return refuse(`${strange[0]} must be a text or a list of texts`);
  return { ok: true, value: { hash: document['hash'], settings: settings as Directives } };
}

// The kubelet replaces a mounted ConfigMap by one rename, but makes several changes around it.
const SETTLE_MS = 100;

/** Calls `onChange` some time after the directory of the file has changed, until the returned function is called. */
export function watchSettings(file: string, onChange: () => void): () => void {
  let settling: NodeJS.Timeout | undefined;
  const watcher = watch(dirname(file), { persistent: false }, () => {
    clearTimeout(settling);
    settling = setTimeout(onChange, SETTLE_MS).unref();
  });
  // Settings are read again at each start of Valkey, so a broken watch delays what is reported, not what is used.
  watcher.on('error', () => watcher.close());
  return () => {
    clearTimeout(settling);
    watcher.close();
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isDirectiveValue(value: unknown): boolean {
  return typeof value === 'string' || (Array.isArray(value) && value.every((each) => typeof each === 'string'));
}
