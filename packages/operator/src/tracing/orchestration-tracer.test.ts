import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { OrchestrationLogEntry } from '@valkey-operator/api';
import type { NodeAction } from '@valkey-operator/core';
import { CommandResultSchema, FailureReason } from '@valkey-operator/rpc';
import { describe, expect, test } from 'vitest';
import { aCluster } from '../testing/builders.ts';
import { aPlan } from '../testing/plans.ts';
import { OrchestrationTracer } from './orchestration-tracer.ts';
import type { Span } from './span.ts';

const cluster = aCluster();
const START = Date.parse('2026-01-01T00:00:00Z');
const id = 'scaleout-1';
const step1: OrchestrationLogEntry = {
  orchestration: id,
  kind: 'ScaleOut',
  step: 1,
  stepName: 'Start pods',
  startedAt: '2026-01-01T00:00:00Z',
};
const step2 = { ...step1, step: 2, stepName: 'Move slots', startedAt: '2026-01-01T00:00:02Z' };
const close = (entry: OrchestrationLogEntry, outcome: OrchestrationLogEntry['outcome'] = 'Succeeded') => ({
  ...entry,
  finishedAt: '2026-01-01T00:00:02Z',
  outcome,
});
const plan = aPlan([], {
  status: {
    orchestration: {
      id,
      kind: 'ScaleOut',
      step: 2,
      stepsTotal: 3,
      stepName: 'Move slots',
      startedAt: step1.startedAt,
      stepStartedAt: step2.startedAt,
      attempts: 1,
      message: '',
    },
  },
});
const move: NodeAction = {
  type: 'CommandNode',
  pod: 'demo-0',
  guard: { podUid: 'u' },
  command: { do: 'cancelMove' },
  reason: 'ReplicaAttached',
};

function aTracer() {
  const spans: Span[] = [];
  const clock = { ms: START };
  return {
    spans,
    clock,
    tracer: new OrchestrationTracer(
      (span) => spans.push(span),
      () => clock.ms,
    ),
  };
}

describe('the trace of an operation', () => {
  test('holds the operation, its steps, their actions and what the sidecars did of them', () => {
    const { spans, clock, tracer } = aTracer();
    clock.ms = START + 2500;
    tracer.noteSteps(cluster, [step1], [close(step1), step2]);
    const trail = tracer.begin(cluster, plan, move);
    const beganAt = timestampFromMs(START + 2510);
    const finishedAt = timestampFromMs(START + 2520);
    const done = { case: 'done', value: {} } as const;
    trail.answered(create(CommandResultSchema, { commandId: 'c', beganAt, finishedAt, outcome: done }));
    clock.ms = START + 2530;
    trail.ended();
    clock.ms = START + 4000;
    tracer.noteSteps(cluster, [close(step1), step2], [close(step1), close(step2)]);
    tracer.noteEnded(cluster, {
      id,
      kind: 'ScaleOut',
      outcome: 'Succeeded',
      startedAtMs: START,
      endedAtMs: START + 4000,
    });

    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    const [first, sidecar, action, second, root] = spans as [Span, Span, Span, Span, Span];
    expect(spans.map(({ name, sidecarOf = 'operator' }) => [name, sidecarOf])).toEqual([
      ['Start pods', 'operator'],
      ['cancelMove', 'demo-0'],
      ['cancelMove', 'operator'],
      ['Move slots', 'operator'],
      ['ScaleOut', 'operator'],
    ]);
    expect([sidecar.parentId, action.parentId, second.parentId, first.parentId, root.parentId]).toEqual([
      action.spanId,
      second.spanId,
      root.spanId,
      root.spanId,
      undefined,
    ]);
    expect([sidecar.startMs, sidecar.endMs, action.startMs, action.endMs].map((ms) => ms - START)).toEqual([
      2510, 2520, 2500, 2530,
    ]);
    expect(root.attributes).toMatchObject({ 'valkey.orchestration.id': id, 'valkey.outcome': 'Succeeded' });
  });

  test('shows no step as begun before the one before it had ended, though Kubernetes tells whole seconds', () => {
    const { spans, clock, tracer } = aTracer();
    clock.ms = START + 2500;
    tracer.noteSteps(cluster, [step1], [close(step1), step2]);
    clock.ms = START + 2900;
    tracer.noteSteps(cluster, [close(step1), step2], [close(step1), close(step2)]);
    expect(spans.map(({ startMs, endMs }) => [startMs - START, endMs - START])).toEqual([
      [0, 2500],
      [2500, 2900],
    ]);
  });

  test('ends with its last step, though that is written down a moment later', () => {
    const { spans, clock, tracer } = aTracer();
    clock.ms = START + 2500;
    tracer.noteSteps(cluster, [step1], [close(step1), step2]);
    const times = { startedAtMs: START, endedAtMs: START + 2700 };
    tracer.noteEnded(cluster, { id, kind: 'ScaleOut', outcome: 'Succeeded', ...times });
    clock.ms = START + 2900;
    tracer.noteSteps(cluster, [close(step1), step2], [close(step1), close(step2)]);
    expect(spans.map(({ name, startMs, endMs }) => [name, startMs - START, endMs - START])).toEqual([
      ['Start pods', 0, 2500],
      ['ScaleOut', 0, 2700],
      ['Move slots', 2500, 2700],
    ]);
  });

  test('is the same for the next operator: its actions belong to the step that the last one began', () => {
    const [last, next] = [aTracer(), aTracer()];
    last.tracer.begin(cluster, plan, move).ended();
    next.tracer.noteSteps(cluster, [step2], [close(step2)]);
    expect(last.spans[0]).toMatchObject({ traceId: next.spans[0]!.traceId, parentId: next.spans[0]!.spanId });
  });

  test('tells what failed, and why', () => {
    const { spans, tracer } = aTracer();
    const trail = tracer.begin(cluster, plan, move);
    const value = { reason: FailureReason.VALKEY_ERROR, message: 'ERR no' };
    const at = timestampFromMs(START);
    trail.answered(create(CommandResultSchema, { beganAt: at, finishedAt: at, outcome: { case: 'failure', value } }));
    trail.ended('demo-0 failed: ERR no');
    tracer.noteSteps(cluster, [step2], [{ ...close(step2, 'Failed'), message: 'demo-0 did not start' }]);
    expect(spans.map(({ error }) => error)).toEqual(['ERR no', 'demo-0 failed: ERR no', 'demo-0 did not start']);
  });

  test('has nothing of a sidecar that did not begin, and nothing of an action outside of an operation', () => {
    const { spans, tracer } = aTracer();
    tracer.begin(cluster, plan, move).answered(create(CommandResultSchema, { finishedAt: timestampFromMs(START) }));
    tracer.begin(cluster, aPlan(), move).ended();
    expect(spans).toEqual([]);
  });
});
