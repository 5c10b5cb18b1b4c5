import { annotations, product } from './annotations.ts';
import { labels } from './labels.ts';
import type { Kind, PrinterColumn } from './define-kind.ts';
import { category, group, version } from './group.ts';
import { toStructural, type StructuralSchema } from './schema/structural.ts';

/** The CustomResourceDefinition of a kind, as installed. */
export function buildCrd(kind: Kind) {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${kind.plural}.${group}`,
      labels: { [labels.partOf]: product },
      annotations: { [annotations.product]: product },
    },
    spec: {
      group,
      scope: 'Namespaced',
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural: kind.plural,
        singular: kind.kind.toLowerCase(),
        shortNames: kind.shortNames,
        categories: [category],
      },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: {
            status: {},
            ...(kind.scale && {
              scale: {
                specReplicasPath: kind.scale.spec,
                statusReplicasPath: kind.scale.status,
                labelSelectorPath: kind.scale.selector,
              },
            }),
          },
          additionalPrinterColumns: kind.columns.map(printerColumn),
          schema: { openAPIV3Schema: describeBuiltIns(openApiSchema(kind), { spec: kind.builtIn }) },
        },
      ],
    },
  };
}

export type Crd = ReturnType<typeof buildCrd>;

/** The schema of the whole object. apiVersion, kind and metadata are the API server's own business. */
export function openApiSchema(kind: Kind): StructuralSchema {
  const { 'x-kubernetes-validations': rules, description } = kind.schema.meta() as StructuralSchema;
  const spec = toStructural(kind.spec);
  return {
    type: 'object',
    ...(description && { description }),
    ...(kind.spec.safeParse(undefined).success ? {} : { required: ['spec'] }),
    properties: {
      apiVersion: { type: 'string', description: 'Version of the API: valkey.io/v1alpha1.' },
      kind: { type: 'string', description: `Always ${kind.kind}.` },
      metadata: { type: 'object' },
      spec,
      status: toStructural(kind.status),
    },
    ...(rules && { 'x-kubernetes-validations': rules }),
  };
}

/** `kubectl explain` shows the defaults of the schema, but not those that the operator supplies: so the text says them. */
function describeBuiltIns(schema: StructuralSchema, builtIn: unknown): StructuralSchema {
  if (builtIn === undefined || Array.isArray(builtIn)) return schema;
  if (builtIn === null || typeof builtIn !== 'object') {
    return { ...schema, description: `${schema.description} Built in: ${JSON.stringify(builtIn)}.` };
  }
  const values = builtIn as Record<string, unknown>;
  const properties = Object.entries(schema.properties ?? {}).map(
    ([key, child]) => [key, describeBuiltIns(child, values[key])] as const,
  );
  return schema.properties ? { ...schema, properties: Object.fromEntries(properties) } : schema;
}

function printerColumn({ wide, type = 'string', ...column }: PrinterColumn) {
  return { ...column, type, ...(wide && { priority: 1 }) };
}

interface InstalledCrd {
  readonly metadata?: { readonly name?: string; readonly annotations?: Readonly<Record<string, string>> };
}

/**
 * Other operators, the official one among them, own CRDs of the same group and kind. Ours say whose they are, so that
 * installer and operator refuse to run on, or to overwrite, those of another product.
 */
export function isForeignCrd(crd: InstalledCrd): boolean {
  const ofOurGroup = crd.metadata?.name?.endsWith(`.${group}`) ?? false;
  return ofOurGroup && crd.metadata?.annotations?.[annotations.product] !== product;
}
