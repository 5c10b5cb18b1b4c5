import { createHash } from 'node:crypto';
import type { Orchestration, OrchestrationKind } from '@valkey-operator/api';
import type { Decision, PlanView, Step } from '../decision.ts';
import { formatTime } from '../status/time.ts';
import { type Begun, isChange } from './begun.ts';
import { findPodsInHand } from './in-hand.ts';

export interface Progress {
  readonly kind: OrchestrationKind;
  readonly decision: Decision;
  /** As the status has it, if it has begun. */
  readonly before: Begun | undefined;
  /** Where the planner of this kind says it is, when what is done now is a repair on its behalf. */
  readonly step: Step | undefined;
}

/** What goes on, under one id from its begin to its end, however often the operator starts anew in between. */
export function describeProgress(view: PlanView, { kind, decision, before, step }: Progress): Orchestration {
  const { now, cluster, operator, failures = [] } = view.snapshot;
  const { uid, generation } = cluster.metadata;
  const { name, number, of } = decision.step ?? step ?? stepOf(view, kind, before);
  const isSameStep = before?.step === number && before.stepName === name;
  const tried = isSameStep ? (before.attempts ?? 1) + (failures.length > 0 ? 1 : 0) : 1;
  const pods = isChange(kind) ? findPodsInHand(view, decision, before?.pods, isSameStep) : [];
  return {
    id: before?.id ?? `${kind.toLowerCase()}-${digest(`${uid}/${generation}/${now}`)}`,
    kind,
    step: number,
    stepsTotal: of,
    stepName: name,
    startedAt: before?.startedAt ?? formatTime(now),
    stepStartedAt: (isSameStep && before.stepStartedAt) || formatTime(now),
    attempts: tried,
    message: decision.message.slice(0, 1024),
    ...(pods.length > 0 && { pods }),
    ...(operator.term !== undefined && { term: operator.term }),
  };
}

/** Of what does not name its steps: where it was, or the only one there is. */
function stepOf(view: PlanView, kind: OrchestrationKind, before: Begun | undefined): Step {
  if (kind === 'Create') return creationStep(view);
  const { step: number = 1, stepsTotal: of = 1, stepName: name = kind } = before ?? {};
  return { name, number, of };
}

function creationStep({ topology: { missing, unowned, members } }: PlanView): Step {
  if (members.length === 0 || missing.length > 0) return { name: 'Start pods', number: 1, of: 3 };
  if (!unowned.isEmpty) return { name: 'Assign slots', number: 2, of: 3 };
  return { name: 'Attach replicas', number: 3, of: 3 };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 10);
}
