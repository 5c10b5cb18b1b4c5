/** One CEL rule. The API server and the off-cluster validator evaluate the same text, so they cannot disagree. */
export interface Rule {
  readonly rule: string;
  /** Says "must" and what to do instead. Field and value are named by the API server in front of it. */
  readonly message: string;
  readonly reason?: RuleReason;
  readonly fieldPath?: string;
}

/** None given: the value is invalid. */
export type RuleReason = 'FieldValueForbidden';

/** Compares with the previous version of the object, so it runs on updates only. */
export const isTransition = (rule: Rule): boolean => /\boldSelf\b/.test(rule.rule);

export const matches = (pattern: string, message: string): Rule => ({ rule: `self.matches(r'${pattern}')`, message });

/** An optional field of an object that keeps its value, or its absence, for the life of the object. */
export function immutableField(field: string, remedy: string): Rule {
  return {
    rule: `has(self.${field}) == has(oldSelf.${field}) && (!has(self.${field}) || self.${field} == oldSelf.${field})`,
    message: `must not change after creation: ${remedy}`,
    reason: 'FieldValueForbidden',
    fieldPath: `.${field}`,
  };
}

/** A whole spec that states one job: a new job is a new object. */
export function immutableSpec(kind: string): Rule {
  return {
    rule: 'self == oldSelf',
    message: `must not change after creation: create another ${kind} instead`,
    reason: 'FieldValueForbidden',
  };
}

/** Alternatives of which the API server can tell a user which one is missing or too many. */
export function exactlyOneOf(fields: readonly string[]): Rule {
  const count = fields.map((field) => `(has(self.${field}) ? 1 : 0)`).join(' + ');
  return { rule: `${count} == 1`, message: `must set exactly one of ${fields.join(', ')}` };
}
