const units: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  k: 1000,
  kb: 1024,
  m: 1000 ** 2,
  mb: 1024 ** 2,
  g: 1000 ** 3,
  gb: 1024 ** 3,
};

/** Bytes of a size as valkey.conf writes it: "64mb" is 64 * 1024^2, "64m" is 64 * 1000^2. */
export function parseMemorySize(text: string): number | undefined {
  const [, digits, unit = ''] = /^(\d+)([a-z]*)$/.exec(text.toLowerCase()) ?? [];
  const factor = Object.hasOwn(units, unit) ? units[unit] : undefined;
  if (digits === undefined || factor === undefined) return undefined;
  const bytes = Number(digits) * factor;
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}
