import { z } from 'zod';
import type { Rule } from './rule.ts';

/** The subset of OpenAPI that Kubernetes calls structural: one type per node, no unions, no references. */
export interface StructuralSchema {
  type?: 'object' | 'array' | 'string' | 'integer' | 'boolean';
  description?: string;
  default?: unknown;
  enum?: string[];
  format?: string;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  maxItems?: number;
  maxProperties?: number;
  required?: string[];
  properties?: Record<string, StructuralSchema>;
  additionalProperties?: StructuralSchema;
  items?: StructuralSchema;
  'x-kubernetes-int-or-string'?: true;
  'x-kubernetes-preserve-unknown-fields'?: true;
  'x-kubernetes-list-type'?: 'atomic' | 'map';
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-map-type'?: 'atomic';
  'x-kubernetes-validations'?: Rule[];
}

type JsonSchema = Record<string, unknown>;

const forbidden = ['allOf', 'oneOf', 'anyOf', 'not', '$ref', 'const', 'nullable'];

/** Turns a zod schema into what a CRD may carry, and throws where Kubernetes could not express it. */
export function toStructural(schema: z.core.$ZodType): StructuralSchema {
  return rewrite(z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input' }), '');
}

function rewrite(node: JsonSchema, path: string): StructuralSchema {
  const { $schema, propertyNames, anyOf, properties, additionalProperties, items, ...rest } = node;
  const result: JsonSchema = rest;
  if (rest['x-kubernetes-int-or-string']) delete result['type'];
  else if (anyOf !== undefined) throw new Error(`${path}: a structural schema has no unions`);
  for (const keyword of forbidden) {
    if (keyword in result) throw new Error(`${path}: a structural schema has no ${keyword}`);
  }
  if (result['type'] === 'integer') dropSafeIntegerBounds(result);
  if (result['format'] === 'date-time') delete result['pattern'];
  if (properties) result['properties'] = mapValues(properties as Record<string, JsonSchema>, path);
  else if (additionalProperties) {
    result['additionalProperties'] = rewrite(additionalProperties as JsonSchema, `${path}.*`);
  }
  if (items) result['items'] = rewrite(items as JsonSchema, `${path}[]`);
  return result;
}

function mapValues(properties: Record<string, JsonSchema>, path: string): Record<string, StructuralSchema> {
  return Object.fromEntries(Object.entries(properties).map(([key, child]) => [key, rewrite(child, `${path}.${key}`)]));
}

/** zod bounds every integer by what JavaScript can hold; in a CRD that would only be noise. */
function dropSafeIntegerBounds(node: JsonSchema): void {
  if (node['minimum'] === Number.MIN_SAFE_INTEGER) delete node['minimum'];
  if (node['maximum'] === Number.MAX_SAFE_INTEGER) delete node['maximum'];
}
