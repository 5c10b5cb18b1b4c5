import type { z } from 'zod';

type Issue = z.core.$ZodIssue;

/** What zod found, in the words of the API server. */
export function explainIssues(issues: readonly Issue[], root: object): string[] {
  const unknown = issues.filter((issue) => issue.code === 'unrecognized_keys');
  // The API server looks for unknown fields first and looks no further when it finds one.
  if (unknown.length > 0) return unknown.flatMap(({ keys, path }) => keys.map((key) => unknownField([...path, key])));
  return issues.map((issue) => {
    const path = formatPath(issue.path);
    return `${path}: ${explain(issue, path, valueAt(root, issue.path))}`;
  });
}

const unknownField = (path: readonly PropertyKey[]): string => `unknown field "${formatPath(path)}"`;

function explain(issue: Issue, path: string, value: unknown): string {
  if (value === undefined) return 'Required value';
  const shown = JSON.stringify(value);
  switch (issue.code) {
    case 'invalid_type':
      // Advice of ours, where the API server can only name the type.
      if (issue.message.startsWith('must ')) return `Invalid value: ${shown}: ${issue.message}`;
      return wrongType(path, value, typeNames[issue.expected] ?? issue.expected);
    case 'invalid_union':
      return wrongType(path, value, 'integer,string');
    case 'invalid_value':
      return `Unsupported value: ${shown}: supported values: ${issue.values.map((v) => JSON.stringify(v)).join(', ')}`;
    case 'invalid_format':
      return `Invalid value: ${shown}: ${path} in body must be of type ${formatNames[issue.format] ?? issue.format}: ${shown}`;
    case 'too_small':
      return `Invalid value: ${shown}: ${path} in body should be greater than or equal to ${issue.minimum}`;
    case 'too_big':
      return tooBig(issue, path, value);
    default:
      return `Invalid value: ${shown}: ${issue.message}`;
  }
}

const typeNames: Record<string, string> = { int: 'integer', number: 'integer', record: 'object' };
const formatNames: Record<string, string> = { datetime: 'date-time' };

function wrongType(path: string, value: unknown, expected: string): string {
  const actual = JSON.stringify(typeName(value));
  return `Invalid value: ${actual}: ${path} in body must be of type ${expected}: ${actual}`;
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function tooBig({ origin, maximum }: z.core.$ZodIssueTooBig, path: string, value: unknown): string {
  if (origin === 'string') return `Too long: may not be more than ${maximum} bytes`;
  if (Array.isArray(value)) return tooMany(value.length, Number(maximum));
  return `Invalid value: ${JSON.stringify(value)}: ${path} in body should be less than or equal to ${maximum}`;
}

export const tooMany = (size: number, limit: number): string =>
  `Too many: ${size}: must have at most ${limit} ${limit === 1 ? 'item' : 'items'}`;

/** As the API server writes it: spec.tolerations[0].key */
function formatPath(segments: readonly PropertyKey[]): string {
  return segments.reduce<string>((path, segment) => {
    if (typeof segment === 'number') return `${path}[${segment}]`;
    return path === '' ? String(segment) : `${path}.${String(segment)}`;
  }, '');
}

function valueAt(root: unknown, segments: readonly PropertyKey[]): unknown {
  return segments.reduce<unknown>(
    (value, segment) => (value as Record<PropertyKey, unknown> | undefined)?.[segment],
    root,
  );
}
