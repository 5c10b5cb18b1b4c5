import { annotations, type EffectiveClusterSpec, type FailedRoll, type OrchestrationKind } from '@valkey-operator/api';
import {
  changedParts,
  formatImage,
  type ImageRef,
  NO_EXPORTER,
  parseImage,
  parseParts,
  type TemplatePart,
  type TemplateParts,
  templateParts,
  type WantedParts,
  withTemplateOf,
} from '../builders/template-parts.ts';
import type { buildPodTemplate } from '../builders/pod-template.ts';
import { settingsInEffect } from '../builders/settings.ts';
import { findStatefulSet } from '../expectation.ts';
import { previousDetail } from '../previous-detail.ts';
import { readRestartAt } from './restart-at.ts';
import { findWithdrawn } from '../orchestration/withdrawal.ts';
import type { ChildObject, ClusterSnapshot, PodView } from '../snapshot.ts';
import { describeExporterChange } from '../status/exporter.ts';

type PodTemplate = ReturnType<typeof buildPodTemplate>;

/** A pod that is not made of what it should be made of, or that a person wants to be made anew. */
export interface OutdatedPod {
  readonly pod: PodView;
  /** None: it is only to be restarted. */
  readonly changes: readonly TemplatePart[];
  /** It may take the change while it runs. */
  readonly inPlace: boolean;
  /** It is about to: its kubelet has the order. */
  readonly isResizing: boolean;
  /** Why it cannot take its resources while it runs, in the words of whoever has refused them. */
  readonly obstacle: string | undefined;
  /** It is of what was in effect. */
  readonly isGood: boolean;
}

/** How far the pods are from what they shall be made of. Derived from what is there; nothing is remembered of the way. */
export interface Roll {
  /** The spec; where its pods failed or it was cancelled, with what they were made of before. */
  readonly target: EffectiveClusterSpec;
  /** The spec, with what all pods were made of when all was well last. */
  readonly good: EffectiveClusterSpec;
  /** What the target changes of that. */
  readonly changes: readonly TemplatePart[];
  /** The StatefulSet makes pods of the target, and Kubernetes knows it. */
  readonly begun: boolean;
  /** It makes pods of what was in effect. */
  readonly restored: boolean;
  readonly outdated: readonly OutdatedPod[];
  /** The spec as it is was tried and given up. */
  readonly failed: FailedRoll | undefined;
  /** It was cancelled: pods that were replaced go back. */
  readonly withdrawn: boolean;
  readonly kind: OrchestrationKind & ('Upgrade' | 'Reconfigure' | 'Restart');
  /** What the spec asks for is called, though it was given up. */
  readonly askedKind: Roll['kind'];
}

export function deriveRoll(snapshot: ClusterSnapshot): Roll {
  const { cluster, spec, pods } = snapshot;
  const { failedRoll } = previousDetail(snapshot);
  const good = specBefore(snapshot);
  const goodParts = templateParts(cluster, good);
  const changesOf = (text: string | undefined, to: WantedParts) => changedParts(completeParts(text, goodParts, to), to);
  const isSame = failedRoll && changesOf(failedRoll.template, templateParts(cluster, spec)).length === 0;
  const failed = isSame && !isAskedAgain(failedRoll, snapshot) ? failedRoll : undefined;
  const stopped = findWithdrawn(snapshot);
  const asked = changedParts(goodParts, templateParts(cluster, spec));
  const withdrawn = isWithdrawn(stopped, asked);
  const target = failed || withdrawn ? good : spec;
  const wanted = templateParts(cluster, target);
  const restartAt = restartTime(snapshot);
  const kept = settingsInEffect(snapshot)?.hash;
  const restartsFor = (pod: PodView) =>
    pod.report?.config.runningHash === kept && !stopped.has('Reconfigure') ? settingsToStart(pod) : [];
  const outdated = pods
    .map((pod): OutdatedPod & { isDue: boolean } => {
      const changes = changesOf(pod.annotations[annotations.template], wanted);
      const isStuck = pod.resizePending !== undefined && changes.length === 0;
      const isGood = changesOf(pod.annotations[annotations.template], goodParts).length === 0;
      // Where it is of what was in effect, nothing depends on when its kubelet is done.
      const isResizing = pod.resizing === true && changes.length === 0 && !isGood;
      const isDue = (restartAt !== undefined && pod.createdAt < restartAt) || restartsFor(pod).length > 0;
      return {
        pod,
        changes: isStuck || isResizing ? ['resources'] : changes,
        inPlace: !isDue && (isResizing || canResize(pod, changes, wanted)),
        isResizing,
        obstacle: isStuck ? pod.resizePending : findRefusal(pod, wanted),
        isGood,
        isDue,
      };
    })
    .filter(({ changes, isDue }) => changes.length > 0 || isDue);
  const changes = changedParts(goodParts, wanted);
  const statefulSet = findStatefulSet(snapshot);
  const makes = (parts: typeof wanted) =>
    statefulSet !== undefined && changesOf(templateOf(statefulSet), parts).length === 0 && isObserved(statefulSet);
  return {
    target,
    good,
    changes,
    begun: makes(wanted),
    restored: makes(goodParts),
    outdated,
    failed,
    withdrawn,
    kind: kindOf(
      changes.length > 0 ? changes : outdated.flatMap((each) => each.changes),
      outdated.some(({ pod }) => restartsFor(pod).length > 0),
    ),
    askedKind: kindOf(asked, false),
  };
}

/** Who has deleted its record has not asked for another version: that is then what the StatefulSet makes. */
function specBefore(snapshot: ClusterSnapshot): EffectiveClusterSpec {
  const { spec } = snapshot;
  const { effectiveSpec } = previousDetail(snapshot);
  if (effectiveSpec) return withTemplateOf(spec, effectiveSpec as EffectiveClusterSpec);
  const { template } = (findStatefulSet(snapshot)?.['spec'] ?? {}) as { template?: Partial<PodTemplate> };
  const image = template?.spec?.containers.find(({ name }) => name === 'valkey')?.image;
  return image ? { ...spec, valkeyImage: { ...spec.valkeyImage, ...parseImage(image) } } : spec;
}

/** Settings that were cancelled are no reason to keep the image. Where the spec asks for nothing any more, what is left is the way back. */
function isWithdrawn(stopped: ReadonlySet<OrchestrationKind>, asked: readonly TemplatePart[]): boolean {
  return asked.length > 0 ? stopped.has(kindOf(asked, false)) : stopped.has('Upgrade') || stopped.has('Reconfigure');
}

/** What is different, for people. */
export function describeChanges({ good, target, outdated }: Roll, changes: readonly TemplatePart[]): string {
  const image = (pick: (spec: EffectiveClusterSpec) => ImageRef) =>
    fromTo(formatImage(pick(good)), formatImage(pick(target)));
  const words: Record<TemplatePart, string> = {
    valkey: image(({ valkeyImage }) => valkeyImage),
    sidecar: image(({ sidecarImage }) => sidecarImage),
    resources: 'its resources',
    placement: 'where it may run',
    exporter: describeExporterChange(good.exporter, target.exporter),
    exporterImage: `the exporter ${image(({ exporter }) => exporter.image)}`,
  };
  if (changes.length > 0 || outdated.length === 0) return changes.map((part) => words[part]).join(', ');
  const settings = [...new Set(outdated.flatMap(({ pod }) => settingsToStart(pod)))].toSorted();
  if (settings.length > 0) return `Valkey reads ${settings.join(', ')} only at its start`;
  return `a restart was asked for by ${annotations.restartAt}`;
}

function fromTo(from: string, to: string): string {
  return from === to ? to : `${from} to ${to}`;
}

/** Settings that its Valkey has accepted and will have when it starts next. */
function settingsToStart({ report }: PodView): readonly string[] {
  return report?.config.restartFor ?? [];
}

/** Only its resources differ, and the API server has not refused these. What its kubelet cannot give it is what it was told before. */
function canResize(pod: PodView, changes: readonly TemplatePart[], wanted: TemplateParts): boolean {
  return changes.length === 1 && changes[0] === 'resources' && findRefusal(pod, wanted) === undefined;
}

/** What the API server said to just these resources. */
function findRefusal({ annotations: own }: PodView, wanted: TemplateParts): string | undefined {
  const [refused, ...words] = (own[annotations.resizeRefused] ?? '').split(' ');
  return refused === wanted['resources'] ? words.join(' ') : undefined;
}

/** The moment before which pods must have been made to be restarted, once it has come. */
function restartTime({ cluster, now }: ClusterSnapshot): number | undefined {
  const time = readRestartAt(cluster);
  return time !== undefined && time <= now ? time : undefined;
}

/**
 * What an operator did not write, or not all of it, is of the last good template. Where that has an exporter though nothing is
 * said of one, it was written before there were any: there is none to be taken away.
 */
function completeParts(text: string | undefined, goodParts: WantedParts, wanted: WantedParts): TemplateParts {
  const without = wanted.exporter === NO_EXPORTER ? { exporter: NO_EXPORTER } : {};
  return { ...goodParts, ...without, ...(text && parseParts(text)) };
}

/** By a person, with a restart after it. A spec that has changed is tried anyway. */
function isAskedAgain({ at }: FailedRoll, snapshot: ClusterSnapshot): boolean {
  return (restartTime(snapshot) ?? 0) > Date.parse(at);
}

function templateOf(statefulSet: ChildObject): string | undefined {
  const { template } = statefulSet['spec'] as { template?: { metadata?: ChildObject['metadata'] } };
  return template?.metadata?.annotations?.[annotations.template];
}

/** Its controller has seen the newest template; before, it would make a pod of the old one. */
function isObserved({ metadata, status }: ChildObject & { status?: unknown }): boolean {
  const { generation } = metadata as { generation?: number };
  const { observedGeneration } = (status ?? {}) as { observedGeneration?: number };
  return generation === undefined || (observedGeneration ?? 0) >= generation;
}

const IMAGES: readonly TemplatePart[] = ['valkey', 'sidecar', 'exporterImage'];

function kindOf(changes: readonly TemplatePart[], isForSettings: boolean): Roll['kind'] {
  if (changes.length === 0) return isForSettings ? 'Reconfigure' : 'Restart';
  return changes.some((part) => IMAGES.includes(part)) ? 'Upgrade' : 'Reconfigure';
}
