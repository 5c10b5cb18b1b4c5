import { z } from 'zod';
import type { Rule } from './rule.ts';

// The few building blocks of every schema. Each takes the field's documentation first, so that no field goes without,
// and each bounds its size, because the API server prices CEL rules by the largest value that the schema admits.

interface Constraints {
  readonly rules?: readonly Rule[];
}

const annotate = (description: string, { rules = [] }: Constraints, extra: object = {}) => ({
  description,
  ...extra,
  ...(rules.length > 0 && { 'x-kubernetes-validations': rules }),
});

export function text(description: string, { max = 253, ...constraints }: Constraints & { max?: number } = {}) {
  return z.string().max(max).meta(annotate(description, constraints));
}

export function flag(description: string) {
  return z.boolean().meta({ description });
}

export function choice<const T extends readonly [string, ...string[]]>(description: string, values: T) {
  return z.enum(values).meta({ description });
}

interface Bounds extends Constraints {
  readonly min?: number;
  readonly max?: number;
  /** Why the bound exists and what to do instead. Only a CEL rule can say so; without it the schema's own bounds do. */
  readonly why?: string;
}

export function integer(description: string, { min, max, why, rules = [] }: Bounds = {}) {
  if (why !== undefined) return z.int().meta(annotate(description, { rules: [...rules, bound(min, max, why)] }));
  let schema = z.int();
  if (min !== undefined) schema = schema.min(min);
  if (max !== undefined) schema = schema.max(max);
  return schema.meta(annotate(description, { rules }));
}

function bound(min: number | undefined, max: number | undefined, why: string): Rule {
  if (max === undefined) return { rule: `self >= ${min}`, message: `must be at least ${min}: ${why}` };
  if (min === undefined) return { rule: `self <= ${max}`, message: `must be at most ${max}: ${why}` };
  return { rule: `self >= ${min} && self <= ${max}`, message: `must be between ${min} and ${max}: ${why}` };
}

export function timestamp(description: string) {
  return z.iso.datetime({ offset: true }).meta({ description });
}

/** `atomic` objects are replaced as a whole by server-side apply and by the defaults of a namespace, never merged. */
export function object<S extends z.core.$ZodLooseShape>(
  description: string,
  shape: S,
  { atomic = false, ...constraints }: Constraints & { atomic?: boolean } = {},
) {
  return z
    .strictObject(shape)
    .meta(annotate(description, constraints, atomic ? { 'x-kubernetes-map-type': 'atomic' } : {}));
}

/** An object whose shape is checked elsewhere. */
export function anything(description: string) {
  return z.looseObject({}).meta({ description, 'x-kubernetes-preserve-unknown-fields': true });
}

interface ListShape extends Constraints {
  readonly max: number;
  /** The field which identifies an item, so that server-side apply merges items instead of replacing the list. */
  readonly key?: string;
}

export function list<T extends z.core.$ZodType>(description: string, item: T, { max, key, ...constraints }: ListShape) {
  const shape = key
    ? { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [key] }
    : { 'x-kubernetes-list-type': 'atomic' };
  return z
    .array(item)
    .max(max)
    .meta(annotate(description, constraints, shape));
}

export function map<T extends z.core.$ZodType>(
  description: string,
  value: T,
  { max, ...constraints }: Constraints & { max: number },
) {
  return z.record(z.string(), value).meta(annotate(description, constraints, { maxProperties: max }));
}
