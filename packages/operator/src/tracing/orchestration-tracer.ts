import { randomBytes } from 'node:crypto';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { OrchestrationLogEntry, ValkeyCluster } from '@valkey-operator/api';
import type { Action, EndedOrchestration, Plan } from '@valkey-operator/core';
import { formatKey, type Live, type ObjectRef } from '@valkey-operator/kube';
import type { CommandResult } from '@valkey-operator/rpc';
import { rootSpanId, type Span, stepSpanId, traceIdOf } from './span.ts';

type Cluster = Pick<Live<ValkeyCluster>, 'metadata'>;
type Log = readonly OrchestrationLogEntry[];

/** One action on its way. */
export interface ActionTrail {
  /** What the sidecar said, with the time that its part took. */
  answered(result: CommandResult): void;
  ended(error?: string): void;
}

/** Tells the story of each operation as a trace: the operation, its steps, their actions, and what sidecars did of these. */
export interface Tracing {
  begin(cluster: Cluster, plan: Plan, action: Action): ActionTrail;
  /** Steps that have ended, by the log before and now. */
  noteSteps(cluster: Cluster, before: Log, after: Log): void;
  noteEnded(cluster: Cluster, ended: EndedOrchestration): void;
  forget(cluster: ObjectRef): void;
}

/** What was told last of a cluster, whose steps follow each other. */
interface Told {
  /** When its last step ended. Kubernetes tells times in whole seconds, so the next would seem to begin before. */
  readonly stepEndMs?: number;
  /** The operation that ended last: its last step may be written down a moment later than that. */
  readonly ended?: { readonly traceId: string; readonly endMs: number };
}

const NO_TRAIL: ActionTrail = { answered: () => {}, ended: () => {} };
export const noTracing: Tracing = {
  begin: () => NO_TRAIL,
  noteSteps: () => {},
  noteEnded: () => {},
  forget: () => {},
};

export class OrchestrationTracer implements Tracing {
  readonly #emit: (span: Span) => void;
  readonly #now: () => number;
  /** By cluster. */
  readonly #told = new Map<string, Told>();

  constructor(emit: (span: Span) => void, now: () => number) {
    this.#emit = emit;
    this.#now = now;
  }

  begin({ metadata }: Cluster, { status: { orchestration } }: Plan, action: Action): ActionTrail {
    if (!orchestration) return NO_TRAIL;
    const traceId = traceIdOf(metadata.uid, orchestration.id);
    const { step, stepName, stepStartedAt = orchestration.startedAt } = orchestration;
    const spanId = randomBytes(8).toString('hex');
    const common = { traceId, name: nameOf(action), attributes: attributesOf(action) };
    const startMs = this.#now();
    return {
      answered: (result) => this.#answered({ ...common, parentId: spanId }, action, result),
      ended: (error) =>
        this.#emit({
          ...common,
          spanId,
          parentId: stepSpanId(traceId, { step, startedAt: stepStartedAt, ...(stepName && { stepName }) }),
          startMs,
          endMs: this.#now(),
          ...(error !== undefined && { error }),
        }),
    };
  }

  #answered(
    common: Pick<Span, 'traceId' | 'parentId' | 'name' | 'attributes'>,
    action: Action,
    { outcome, beganAt, finishedAt, commandId }: CommandResult,
  ): void {
    // One that did not begin took no time; an old sidecar does not tell when it began.
    if (action.type !== 'CommandNode' || !beganAt || !finishedAt) return;
    const error = outcome.case === 'refusal' || outcome.case === 'failure' ? outcome.value.message : undefined;
    this.#emit({
      ...common,
      sidecarOf: action.pod,
      spanId: randomBytes(8).toString('hex'),
      startMs: timestampMs(beganAt),
      endMs: timestampMs(finishedAt),
      attributes: { ...common.attributes, 'valkey.command.id': commandId },
      ...(error !== undefined && { error }),
    });
  }

  noteSteps({ metadata }: Cluster, before: Log, after: Log): void {
    for (const entry of after) {
      const {
        orchestration,
        kind,
        step,
        stepName = kind,
        startedAt,
        finishedAt,
        outcome = 'Succeeded',
        message,
      } = entry;
      if (!finishedAt || before.some((old) => old.finishedAt && isSameStep(old, entry))) continue;
      const traceId = traceIdOf(metadata.uid, orchestration);
      const told = this.#told.get(formatKey(metadata)) ?? {};
      const endMs = told.ended?.traceId === traceId ? told.ended.endMs : this.#now();
      this.#emit({
        traceId,
        spanId: stepSpanId(traceId, entry),
        parentId: rootSpanId(traceId),
        name: stepName,
        startMs: Math.max(Date.parse(startedAt), told.stepEndMs ?? 0),
        endMs,
        attributes: { 'valkey.step.number': step, 'valkey.outcome': outcome, ...(message && { message }) },
        ...(FAILED.has(outcome) && { error: message ?? outcome }),
      });
      this.#told.set(formatKey(metadata), { ...told, stepEndMs: endMs });
    }
  }

  noteEnded({ metadata }: Cluster, { id, kind, outcome, startedAtMs, endedAtMs }: EndedOrchestration): void {
    const traceId = traceIdOf(metadata.uid, id);
    const { namespace, name } = metadata;
    const told = this.#told.get(formatKey(metadata)) ?? {};
    const endMs = Math.max(endedAtMs, told.stepEndMs ?? 0);
    this.#emit({
      traceId,
      spanId: rootSpanId(traceId),
      name: kind,
      startMs: startedAtMs,
      endMs,
      attributes: {
        'k8s.namespace.name': namespace,
        'valkey.cluster.name': name,
        'valkey.orchestration.id': id,
        'valkey.outcome': outcome,
      },
      ...(outcome === 'Failed' && { error: outcome }),
    });
    this.#told.set(formatKey(metadata), { ...told, ended: { traceId, endMs } });
  }

  forget(cluster: ObjectRef): void {
    this.#told.delete(formatKey(cluster));
  }
}

const FAILED: ReadonlySet<string> = new Set(['Failed', 'RolledBack']);

function isSameStep(one: OrchestrationLogEntry, other: OrchestrationLogEntry): boolean {
  const { orchestration, step, stepName, startedAt } = one;
  return (
    orchestration === other.orchestration &&
    step === other.step &&
    stepName === other.stepName &&
    startedAt === other.startedAt
  );
}

/** Of few different ones, as a span's name should be; on what it acted is in its attributes. */
function nameOf(action: Action): string {
  if (action.type === 'CommandNode') return action.command.do;
  return action.type === 'ApplyChild' ? `Apply ${action.object.kind}` : action.type;
}

function attributesOf(action: Action): Record<string, string> {
  return {
    ...('pod' in action && { 'k8s.pod.name': action.pod }),
    ...('reason' in action && action.reason && { 'valkey.reason': action.reason }),
  };
}
