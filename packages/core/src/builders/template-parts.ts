import { createHash } from 'node:crypto';
import { builtInDefaults, type EffectiveClusterSpec, type ValkeyCluster } from '@valkey-operator/api';

/** What of a pod cannot change while it lives, by what people would call it. */
export type TemplatePart = 'valkey' | 'sidecar' | 'resources' | 'placement' | 'exporter' | 'exporterImage';
export type TemplateParts = Readonly<Record<string, string>>;
/** Without an exporter it has no image. */
export type WantedParts = Readonly<
  Record<Exclude<TemplatePart, 'exporterImage'>, string> & { readonly exporterImage?: string }
>;

const PLACEMENT = [
  'podAffinity',
  'podAntiAffinity',
  'nodeAffinity',
  'topologySpreadConstraints',
  'nodeSelector',
  'tolerations',
  'priorityClassName',
] as const;
const TEMPLATE_FIELDS = ['valkeyImage', 'sidecarImage', 'resources', 'exporter', ...PLACEMENT] as const;

/** The part `exporter` of pods without one. */
export const NO_EXPORTER = 'off';

export type ImageRef = { readonly name: string; readonly tag: string };

/**
 * Digests of what the spec says of each part. They are made of the spec, never of the template that is built from it: so an
 * operator that builds it otherwise restarts nothing. What a pod takes without a restart (labels, pull secrets) is not in it.
 */
export function templateParts(cluster: ValkeyCluster, spec: EffectiveClusterSpec): WantedParts {
  return {
    valkey: digest(formatImage(spec.valkeyImage)),
    // What came with the operator changes with it, and a pod gets the new one when it is replaced next.
    sidecar: isReleased(cluster, spec) ? 'released' : digest(formatImage(spec.sidecarImage)),
    resources: digest(spec.resources),
    placement: digest(pick(spec, PLACEMENT)),
    ...exporterParts(cluster, spec.exporter),
  };
}

function exporterParts({ spec: written }: ValkeyCluster, exporter: EffectiveClusterSpec['exporter']) {
  const { enabled, image, port, resources } = exporter;
  if (!enabled) return { exporter: NO_EXPORTER };
  const isOurs = !written.exporter?.image && formatImage(image) === formatImage(builtInDefaults.exporter.image);
  return { exporter: digest({ port, resources }), exporterImage: isOurs ? 'released' : digest(formatImage(image)) };
}

/** A spec whose pods are made of what another one says. */
export function withTemplateOf(spec: EffectiveClusterSpec, other: EffectiveClusterSpec): EffectiveClusterSpec {
  const rest = Object.entries(spec).filter(([field]) => !(TEMPLATE_FIELDS as readonly string[]).includes(field));
  return { ...(Object.fromEntries(rest) as EffectiveClusterSpec), ...pick(other, TEMPLATE_FIELDS) };
}

export function formatParts(parts: TemplateParts): string {
  return Object.entries(parts)
    .map(([part, value]) => `${part}=${value}`)
    .join(' ');
}

export function parseParts(text: string): TemplateParts {
  return Object.fromEntries(text.split(' ').map((part) => part.split('=') as [string, string]));
}

/** Parts of `wanted` that `present` has otherwise, or not at all. The image of an exporter that comes is no other one. */
export function changedParts(present: TemplateParts, wanted: WantedParts): TemplatePart[] {
  const isNew = present['exporter'] === NO_EXPORTER;
  const parts = (Object.keys(wanted) as TemplatePart[]).filter((part) => !(isNew && part === 'exporterImage'));
  return parts.filter((part) => present[part] !== wanted[part]);
}

export function formatImage({ name, tag }: ImageRef): string {
  return `${name}:${tag}`;
}

export function parseImage(text: string): ImageRef {
  const colon = text.lastIndexOf(':');
  return { name: text.slice(0, colon), tag: text.slice(colon + 1) };
}

function pick<T extends object, K extends keyof T>(object: T, fields: readonly K[]): Pick<T, K> {
  const present = fields.filter((field) => object[field] !== undefined).map((field) => [field, object[field]]);
  return Object.fromEntries(present) as Pick<T, K>;
}

function isReleased({ spec: written }: ValkeyCluster, { sidecarImage }: EffectiveClusterSpec): boolean {
  return !written.sidecarImage && formatImage(sidecarImage) === formatImage(builtInDefaults.sidecarImage);
}

/** Keys in order: the same spec written in another order is the same. */
function digest(value: unknown): string {
  const canonical = JSON.stringify(value, (_, field: unknown) =>
    typeof field === 'object' && field !== null && !Array.isArray(field)
      ? Object.fromEntries(Object.entries(field).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : field,
  );
  return createHash('sha256').update(canonical).digest('hex').slice(0, 10);
}
