import { openApiSchema } from '../crd.ts';
import type { Kind } from '../define-kind.ts';
import type { StructuralSchema } from '../schema/structural.ts';
import { checkRules } from './check-rules.ts';
import { explainIssues } from './explain-issue.ts';
import { pruneNulls } from './prune-nulls.ts';

/**
 * What the API server would say of an object, off-cluster and in the same words; empty when it would accept it. Give the
 * previous version of the object for the rules on what may change.
 *
 * Status is left out, as the API server takes it through the status subresource only.
 */
export function validate(kind: Kind, candidate: object, previous?: object): string[] {
  const object = asReceived(candidate);
  const parsed = kind.schema.safeParse(object);
  if (!parsed.success) return explainIssues(parsed.error.issues, object);
  const before = previous && kind.schema.parse(asReceived(previous));
  return checkRules(schemaOf(kind), parsed.data, before);
}

function asReceived(object: object): object {
  const { status: _, ...rest } = object as { status?: unknown };
  return pruneNulls(rest);
}

const schemas = new WeakMap<Kind, StructuralSchema>();

function schemaOf(kind: Kind): StructuralSchema {
  const schema = schemas.get(kind) ?? openApiSchema(kind);
  schemas.set(kind, schema);
  return schema;
}
