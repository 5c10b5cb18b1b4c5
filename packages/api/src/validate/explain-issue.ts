import type { z } from 'zod';
import { formatPath, valueAt } from './path.ts';

type Issue = z.core.$ZodIssue;

/** What zod found, in the words of the API server. */
export function explainIssue(issue: Issue, root: object): string[] {
  const path = formatPath(issue.path);
  const value = valueAt(root, issue.path);
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => `unknown field "${formatPath([...issue.path, key])}"`);
    case 'invalid_type':
    case 'invalid_union':
      return [explainType(issue, path, value)];
    case 'invalid_value':
      if (value === undefined) return [`${path}: Required value`];
      return [
        `${path}: Unsupported value: ${JSON.stringify(value)}: supported values: ${issue.values.map((v) => JSON.stringify(v)).join(', ')}`,
      ];
    case 'too_small':
      return [
        `${path}: Invalid value: ${JSON.stringify(value)}: ${path} in body should be greater than or equal to ${issue.minimum}`,
      ];
    case 'too_big':
      return [explainTooBig(issue, path, value)];
    case 'invalid_format':
      return [
        `${path}: Invalid value: ${JSON.stringify(value)}: ${path} in body must be of type ${formats[issue.format] ?? issue.format}: ${JSON.stringify(value)}`,
      ];
    default:
      return [`${path}: ${issue.message}`];
  }
}

const formats: Record<string, string> = { datetime: 'date-time' };

function explainType(issue: Issue, path: string, value: unknown): string {
  if (value === undefined) return `${path}: Required value`;
  if (isAdvice(issue)) return `${path}: Invalid value: ${JSON.stringify(value)}: ${issue.message}`;
  const expected = issue.code === 'invalid_type' ? (typeNames[issue.expected] ?? issue.expected) : 'integer,string';
  const actual = JSON.stringify(typeName(value));
  return `${path}: Invalid value: ${actual}: ${path} in body must be of type ${expected}: ${actual}`;
}

/** Advice of ours, where the API server can only name the type. */
const isAdvice = (issue: Issue): boolean => issue.message.startsWith('must ');

const typeNames: Record<string, string> = { int: 'integer', number: 'integer', record: 'object' };

function typeName(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function explainTooBig(issue: z.core.$ZodIssueTooBig, path: string, value: unknown): string {
  const limit = Number(issue.maximum);
  if (issue.origin === 'string') return `${path}: Too long: may not be more than ${limit} bytes`;
  if (issue.origin === 'array') {
    return `${path}: Too many: ${(value as unknown[]).length}: must have at most ${limit} ${limit === 1 ? 'item' : 'items'}`;
  }
  return `${path}: Invalid value: ${JSON.stringify(value)}: ${path} in body should be less than or equal to ${limit}`;
}
