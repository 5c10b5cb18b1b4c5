/** The "name:value" lines of INFO and CLUSTER INFO; comments and blank lines are left out. */
export function parseFields(text: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const colon = line.indexOf(':');
    if (colon > 0 && !line.startsWith('#')) fields.set(line.slice(0, colon), line.slice(colon + 1));
  }
  return fields;
}

export class MissingFieldError extends Error {
  override readonly name = 'MissingFieldError';
  readonly field: string;

  constructor(field: string) {
    super(`the reply has no usable field ${field}`);
    this.field = field;
  }
}

/** A field that every supported version sends: its absence means that the reply is not what we think it is. */
export function requireText(fields: ReadonlyMap<string, string>, name: string): string {
  const value = fields.get(name);
  if (value === undefined) throw new MissingFieldError(name);
  return value;
}

export function requireNumber(fields: ReadonlyMap<string, string>, name: string): number {
  const number = readNumber(fields, name);
  if (number === undefined) throw new MissingFieldError(name);
  return number;
}

/** A field that only some versions or states have. */
export function readNumber(fields: ReadonlyMap<string, string>, name: string): number | undefined {
  const value = fields.get(name);
  const number = value === undefined || value === '' ? Number.NaN : Number(value);
  return Number.isNaN(number) ? undefined : number;
}
