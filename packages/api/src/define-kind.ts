import { z } from 'zod';
import { apiVersion } from './group.ts';
import type { Rule } from './schema/rule.ts';

export interface PrinterColumn {
  readonly name: string;
  readonly description: string;
  readonly jsonPath: string;
  readonly type?: 'string' | 'integer' | 'boolean' | 'date';
  /** Shown by `kubectl get -o wide` only. */
  readonly wide?: boolean;
}

export interface KindDefinition<Spec extends z.ZodType, Status extends z.ZodType> {
  readonly kind: string;
  readonly plural: string;
  readonly shortNames: readonly string[];
  readonly description: string;
  /** Whether a controller for it exists: CRDs of the others are generated, but not installed. */
  readonly installed: boolean;
  readonly spec: Spec;
  readonly status: Status;
  readonly columns: readonly PrinterColumn[];
  /** Defaults of the spec that the operator supplies, so that the schema cannot have them. */
  readonly builtIn?: object;
  readonly scale?: { readonly spec: string; readonly status: string; readonly selector: string };
  /** Rules on the whole object; of metadata they can see name and generateName only. */
  readonly rules?: readonly Rule[];
}

export interface Kind<Spec extends z.ZodType = z.ZodType, Status extends z.ZodType = z.ZodType> extends KindDefinition<
  Spec,
  Status
> {
  readonly schema: z.ZodType;
}

export interface ObjectMeta {
  name: string;
  namespace: string;
  uid: string;
  resourceVersion: string;
  generation: number;
  creationTimestamp: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
}

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** An object of a kind as the API server returns it: defaults applied. */
export interface Resource<K extends Kind> {
  apiVersion: typeof apiVersion;
  kind: K['kind'];
  metadata: ObjectMeta;
  spec: z.output<K['spec']>;
  status?: z.output<K['status']>;
}

export function defineKind<const Name extends string, Spec extends z.ZodType, Status extends z.ZodType>(
  definition: KindDefinition<Spec, Status> & { readonly kind: Name },
): Kind<Spec, Status> & { readonly kind: Name } {
  const { kind, description, spec, status, rules = [] } = definition;
  const schema = z
    .strictObject({
      apiVersion: z.literal(apiVersion),
      kind: z.literal(kind),
      metadata: z.looseObject({ name: z.string().optional() }),
      spec,
      status: status.optional(),
    })
    .meta({ description, ...(rules.length > 0 && { 'x-kubernetes-validations': rules }) });
  return { ...definition, schema };
}

/** The column that every kind ends with. */
export const age: PrinterColumn = {
  name: 'Age',
  description: 'Time since creation.',
  jsonPath: '.metadata.creationTimestamp',
  type: 'date',
};

export const ready: PrinterColumn = {
  name: 'Ready',
  description: 'Status of the condition Ready.',
  jsonPath: '.status.conditions[?(@.type=="Ready")].status',
};

export const reason: PrinterColumn = {
  name: 'Reason',
  description: 'Reason of the condition Ready.',
  jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
  wide: true,
};

export const phase: PrinterColumn = { name: 'Phase', description: 'One-word summary.', jsonPath: '.status.phase' };
