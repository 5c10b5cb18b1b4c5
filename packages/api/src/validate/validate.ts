import { openApiSchema } from '../crd.ts';
import type { Kind } from '../define-kind.ts';
import type { StructuralSchema } from '../schema/structural.ts';
import { checkRules } from './check-rules.ts';
import { explainIssue } from './explain-issue.ts';
import { pruneNulls } from './prune-nulls.ts';

/**
 * What the API server would say of an object, off-cluster and in the same words; empty when it would accept it. Give the
 * previous version of the object for the rules on what may change.
 *
 * Status is left out, as the API server takes it through the status subresource only.
 */
export function validate(kind: Kind, candidate: object, previous?: object): string[] {
  const object = pruneNulls(withoutStatus(candidate));
  const parsed = kind.schema.safeParse(object);
  if (!parsed.success) return parsed.error.issues.flatMap((issue) => explainIssue(issue, object));
  return checkRules(schemaOf(kind), parsed.data, previous && kind.schema.parse(pruneNulls(withoutStatus(previous))));
}

const schemas = new WeakMap<Kind, StructuralSchema>();

function schemaOf(kind: Kind): StructuralSchema {
  const schema = schemas.get(kind) ?? openApiSchema(kind);
  schemas.set(kind, schema);
  return schema;
}

function withoutStatus(object: object): object {
  const { status: _, ...rest } = object as { status?: unknown };
  return rest;
}
