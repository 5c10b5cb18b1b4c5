import { buildCrd, openApiSchema } from './crd.ts';
import type { Kind } from './define-kind.ts';
import { scheduling } from './fields/scheduling.ts';
import { category } from './group.ts';
import type { StructuralSchema } from './schema/structural.ts';

/** Fields that are documented elsewhere, and where. */
const documentedElsewhere = new Map([
  ...Object.keys(scheduling).map((field) => [field, 'as in a Pod'] as const),
  ['spec', 'as in [ValkeyCluster](valkeycluster.md)'],
]);

interface ReferenceInput {
  /** The smallest object that works, as YAML. */
  readonly sample: string;
}

/** The reference page of a kind, in Markdown. */
export function renderReference(kind: Kind, { sample }: ReferenceInput): string {
  const schema = openApiSchema(kind);
  const { names, versions } = buildCrd(kind).spec;
  const { spec, status } = schema.properties ?? {};
  return [
    `# ${kind.kind}`,
    kind.description,
    kind.installed ? '' : '_Not installed yet: its controller does not exist. The CRD is in `deploy/crds/upcoming`._',
    `\`kubectl get ${[names.plural, ...names.shortNames].join('|')}\` (also in \`kubectl get ${category}\`) shows ` +
      `${versions[0]?.additionalPrinterColumns.map((column) => column.name).join(', ')}.`,
    fence(sample),
    '## Spec',
    spec?.description,
    table(spec ?? {}, kind.builtIn),
    rulesSection(schema),
    '## Status',
    status?.description,
    table(status ?? {}),
  ]
    .filter((part) => part)
    .join('\n\n')
    .concat('\n');
}

/** The list of all pages. */
export function renderIndex(kinds: readonly Kind[]): string {
  const rows = kinds.map(
    (kind) =>
      `| [${kind.kind}](${pageName(kind)}) | ${kind.shortNames.join(', ')} | ${yesNo(kind.installed)} | ${escape(kind.description)} |`,
  );
  return `${['| kind | short name | installed | what it is |', '|---|---|---|---|', ...rows].join('\n')}\n`;
}

export const pageName = (kind: Kind): string => `${kind.kind.toLowerCase()}.md`;

const yesNo = (value: boolean): string => (value ? 'yes' : 'not yet');

const fence = (yaml: string): string => `\`\`\`yaml\n${yaml.trim()}\n\`\`\``;

function table(schema: StructuralSchema, defaults?: unknown): string {
  const rows = fieldsOf(schema, defaults).map(
    ({ path, type, value, description }) => `| \`${path}\` | ${type} | ${value} | ${escape(description)} |`,
  );
  if (rows.length === 0) return 'None.';
  return ['| field | type | default | what it is |', '|---|---|---|---|', ...rows].join('\n');
}

interface Field {
  readonly path: string;
  readonly type: string;
  readonly value: string;
  readonly description: string;
}

function fieldsOf(schema: StructuralSchema, defaults: unknown, path = ''): Field[] {
  const { properties = {}, required = [] } = schema;
  return Object.entries(properties).flatMap(([key, child]) => {
    const value = child.default ?? (defaults as Record<string, unknown> | undefined)?.[key];
    const elsewhere = documentedElsewhere.get(key);
    const field: Field = {
      path: `${path}${key}`,
      type: elsewhere ?? typeOf(child),
      value: required.includes(key) ? 'required' : formatDefault(value),
      description: child.description ?? '',
    };
    if (elsewhere) return [field];
    const inner = child.items ?? child;
    return [field, ...fieldsOf(inner, value, `${path}${key}${child.items ? '[]' : ''}.`)];
  });
}

function typeOf(schema: StructuralSchema): string {
  if (schema['x-kubernetes-int-or-string']) return 'quantity';
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(', ');
  if (schema.items) return `list of ${typeOf(schema.items)}`;
  if (schema.additionalProperties) return `map of ${typeOf(schema.additionalProperties)}`;
  return schema.format ?? schema.type ?? 'any';
}

/** Objects show the defaults of their fields in the rows of those. */
function formatDefault(value: unknown): string {
  if (value === undefined || (typeof value === 'object' && !Array.isArray(value))) return '';
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}

function rulesSection({ properties = {}, ...root }: StructuralSchema): string {
  const rules = [...rulesOf(root, ''), ...rulesOf(properties['spec'] ?? {}, 'spec')];
  return rules.length === 0 ? '' : `## Rules\n\n${joinRefusals(rules).join('\n')}`;
}

/** Many keys refused for one reason make one line. */
function joinRefusals(rules: readonly string[]): string[] {
  const refusal = /must not set (\S+):/;
  const groups = Map.groupBy(rules, (rule) => rule.replace(refusal, 'must not set ...:'));
  return [...groups.values()].map((group) => {
    const keys = group.map((rule) => refusal.exec(rule)?.[1]).join(', ');
    return (group[0] ?? '').replace(refusal, `must not set ${keys}:`);
  });
}

function rulesOf(schema: StructuralSchema, path: string): string[] {
  const own = (schema['x-kubernetes-validations'] ?? []).map(({ message, fieldPath = '' }) => {
    const field = `${path}${fieldPath}`;
    return field === '' ? `- ${message}` : `- \`${field}\` ${message}`;
  });
  const children = Object.entries(schema.properties ?? {})
    .filter(([key]) => !documentedElsewhere.has(key))
    .flatMap(([key, child]) => rulesOf(child, `${path}.${key}`));
  const inner = [
    ...(schema.items ? rulesOf(schema.items, `${path}[]`) : []),
    ...(schema.additionalProperties ? rulesOf(schema.additionalProperties, `${path}[*]`) : []),
  ];
  return [...own, ...children, ...inner];
}

const escape = (text: string): string => text.replaceAll('|', String.raw`\|`).replaceAll('<', '&lt;');
