import type { NodeSettings } from './builders/settings.ts';

/** Every setting that differs, in order: `maxmemory 100mb -> 200mb, hz 20 -> default`. */
export function describeSettingChanges(from: NodeSettings, to: NodeSettings): string {
  const show = (value: string | undefined) => (value === undefined ? 'default' : value === '' ? '""' : value);
  const names = [...new Set([...Object.keys(from.settings), ...Object.keys(to.settings)])].toSorted();
  const changes = names
    .filter((name) => from.settings[name] !== to.settings[name])
    .map((name) => `${name} ${show(from.settings[name])} -> ${show(to.settings[name])}`);
  const isMoved = JSON.stringify(from.nodes ?? {}) !== JSON.stringify(to.nodes ?? {});
  return [...changes, ...(isMoved ? ['the announced addresses'] : [])].join(', ');
}
