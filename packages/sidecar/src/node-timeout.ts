import { paths } from './paths.ts';
import { nodeTimeoutMs } from './render-node-conf.ts';
import { readSettings } from './settings.ts';

/** By the settings as they lie on disk now. */
export async function readNodeTimeoutMs(): Promise<number> {
  const read = await readSettings(paths.settings);
  return nodeTimeoutMs(read.ok ? read.value : { hash: '', settings: {} });
}
