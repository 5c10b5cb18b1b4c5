import { isTransition, type Rule } from '../schema/rule.ts';
import type { StructuralSchema } from '../schema/structural.ts';
import { holds } from './cel.ts';
import { tooMany } from './explain-issue.ts';

/** Walks value and schema side by side and checks what zod does not: CEL rules, unique keys, sizes of maps. */
export function checkRules(schema: StructuralSchema, value: unknown, previous: unknown, path = ''): string[] {
  if (value === undefined) return [];
  const broken = (schema['x-kubernetes-validations'] ?? [])
    .filter((rule) => previous !== undefined || !isTransition(rule))
    .filter((rule) => !holds(rule.rule, value, previous));
  const own = broken.map((rule) => explainRule(rule, value, path));
  if (Array.isArray(value)) return [...own, ...checkUnique(schema, value, path), ...checkItems(schema, value, path)];
  if (!isObject(value)) return own;
  return [...own, ...checkSize(schema, value, path), ...checkProperties(schema, value, previous, path)];
}

/** Items are checked without a predecessor: no list of ours has rules on changes inside. */
function checkItems({ items = {} }: StructuralSchema, value: readonly unknown[], path: string): string[] {
  return value.flatMap((item, index) => checkRules(items, item, undefined, `${path}[${index}]`));
}

function checkProperties(
  { properties = {}, additionalProperties = {} }: StructuralSchema,
  value: Record<string, unknown>,
  previous: unknown,
  path: string,
): string[] {
  return Object.entries(value).flatMap(([key, child]) => {
    const before = isObject(previous) ? previous[key] : undefined;
    const property = properties[key];
    if (property) return checkRules(property, child, before, path === '' ? key : `${path}.${key}`);
    return checkRules(additionalProperties, child, before, `${path}[${key}]`);
  });
}

function checkSize({ maxProperties = Infinity }: StructuralSchema, value: object, path: string): string[] {
  const size = Object.keys(value).length;
  return size > maxProperties ? [`${path}: ${tooMany(size, maxProperties)}`] : [];
}

function checkUnique(schema: StructuralSchema, items: readonly unknown[], path: string): string[] {
  const key = schema['x-kubernetes-list-map-keys']?.[0];
  if (key === undefined) return [];
  const names = items.map((item) => (isObject(item) ? item[key] : undefined));
  const repeated = [...names.keys()].filter((index) => names.indexOf(names[index]) < index);
  return repeated.map((index) => `${path}[${index}]: Duplicate value: ${JSON.stringify({ [key]: names[index] })}`);
}

/** The API server's wording: it shows the value of a scalar, but not of an object. */
function explainRule({ message, reason, fieldPath = '' }: Rule, value: unknown, path: string): string {
  const field = `${path}${fieldPath}` || '<nil>';
  if (reason === 'FieldValueForbidden') return `${field}: Forbidden: ${message}`;
  return `${field}: Invalid value: ${isObject(value) ? '' : `${JSON.stringify(value)}: `}${message}`;
}

const isObject = (value: unknown): value is Record<string, unknown> => value !== null && typeof value === 'object';
