import { createHash } from 'node:crypto';

/** A piece of work with a begin and an end, as OpenTelemetry has it (G3). */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId?: string;
  readonly name: string;
  /** Whose work it is: the operator's own, or that of the sidecar in this pod. */
  readonly sidecarOf?: string;
  readonly startMs: number;
  readonly endMs: number;
  /** Why it did not succeed. */
  readonly error?: string;
  readonly attributes: Readonly<Record<string, string | number>>;
}

/**
 * Ids follow from what they stand for, so that the parts of one operation find together although nobody keeps them: an
 * operator that goes on where the last one was killed adds to the same trace.
 */
export function traceIdOf(clusterUid: string, orchestration: string): string {
  return digest(32, clusterUid, orchestration);
}

export function rootSpanId(traceId: string): string {
  return digest(16, traceId);
}

export function stepSpanId(traceId: string, step: { step: number; stepName?: string; startedAt: string }): string {
  return digest(16, traceId, String(step.step), step.stepName ?? '', step.startedAt);
}

function digest(length: number, ...parts: string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, length);
}
