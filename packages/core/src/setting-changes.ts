type Settings = Readonly<Record<string, string>>;

/** Every setting that differs, in order: `maxmemory 100mb -> 200mb, hz 20 -> default`. */
export function describeSettingChanges(from: Settings, to: Settings): string {
  const show = (value: string | undefined) => (value === undefined ? 'default' : value === '' ? '""' : value);
  const names = [...new Set([...Object.keys(from), ...Object.keys(to)])].toSorted();
  return names
    .filter((name) => from[name] !== to[name])
    .map((name) => `${name} ${show(from[name])} -> ${show(to[name])}`)
    .join(', ');
}
