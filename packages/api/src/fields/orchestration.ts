import type { z } from 'zod';
import { choice, flag, integer, list, object, text, timestamp } from '../schema/field.ts';

export const orchestrationKinds = [
  'Create',
  'ScaleOut',
  'ScaleIn',
  'ScaleReplicas',
  'Upgrade',
  'Reconfigure',
  'GrowVolumes',
  'Restart',
  'TlsChange',
  'AclChange',
  'CertificateRotation',
  'Failover',
  'Heal',
  'Backup',
  'Restore',
  'Unbind',
  'Adopt',
] as const;

export type OrchestrationKind = (typeof orchestrationKinds)[number];

const kind = choice('What it does.', orchestrationKinds);
const id = text('Identifies it in logs, events and traces.', { max: 64 });
const startedAt = timestamp('When it began.');
const podNames = (description: string) => list(description, text('A pod.', { max: 63 }), { max: 3000 });

const podsInHand = podNames(
  'The pods that it has in hand: taken out of service by this step, or new, or of an earlier step and not well yet.',
);

export const orchestration = object('The multi-step operation that is running.', {
  id,
  kind,
  step: integer('The step it is at, from 1.'),
  stepsTotal: integer('How many steps it has.'),
  stepName: text('What the step is called.', { max: 64 }).optional(),
  startedAt,
  stepStartedAt: timestamp('When the step began.').optional(),
  attempts: integer('How often the current step was tried.'),
  message: text('What it does now, or what it waits for.', { max: 1024 }),
  pods: podsInHand.optional(),
  term: integer('The term of the operator that works on it.').optional(),
});

export const pendingOrchestrations = list(
  'Operations that wait for their turn, in order.',
  object('A waiting operation.', {
    id: id.optional(),
    kind,
    startedAt: startedAt.optional(),
    message: text('What it will do and what it waits for.', { max: 1024 }).optional(),
    pods: podsInHand.optional(),
  }),
  { max: 16 },
);

export const cancelled = object('A change that was stopped. It is not begun again until the spec changes.', {
  id: id.optional(),
  kind,
  generation: integer('The generation of the spec that asked for the change.'),
  restartAt: text('The valkey.io/restart-at that asked for it.', { max: 64 }).optional(),
  upgrade: text('The uid of the ValkeyUpgrade that asked for it.', { max: 253 }).optional(),
  why: choice('Who stopped it: a person, or a step that failed.', ['Requested', 'Failed']),
  request: text('The value of valkey.io/cancel that asked for it.', { max: 64 }).optional(),
});

export const cancelledBefore = list('Changes that were stopped before that one, and are still.', cancelled, {
  max: 16,
});

export const plan = object('What a change that has not started yet would do.', {
  steps: list('The steps, in order.', text('A step, for people.', { max: 512 }), { max: 128 }),
  pods: podNames('The pods that would be added, removed or restarted.').optional(),
  podsTouched: integer('How many pods would be added, removed or restarted.'),
  failovers: integer('How many planned failovers it would take.'),
  slotsMoved: integer('How many slots would move.'),
  keysMoved: integer('About how many keys would move with them.').optional(),
  disruptive: flag('Whether a pod or a primary is out of service for a moment.').optional(),
  blockedBy: list('What stands in its way.', text('What, and what to do.', { max: 1024 }), { max: 16 }).optional(),
  waitsFor: text('What it waits for, such as a maintenance window.', { max: 512 }).optional(),
  basis: text('Hash of the state that it was made for.', { max: 64 }).optional(),
});

export type Orchestration = z.infer<typeof orchestration>;
export type PendingOrchestration = z.infer<typeof pendingOrchestrations>[number];
export type Cancelled = z.infer<typeof cancelled>;
export type Plan = z.infer<typeof plan>;
