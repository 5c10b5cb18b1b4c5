import type { z } from 'zod';
import { choice, integer, list, object, text, timestamp } from '../schema/field.ts';

export const orchestrationKinds = [
  'Create',
  'ScaleOut',
  'ScaleIn',
  'ScaleReplicas',
  'Upgrade',
  'Reconfigure',
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

export const orchestration = object('The multi-step operation that is running.', {
  id: text('Identifies it in logs, events and traces.', { max: 64 }),
  kind,
  step: integer('The step it is at, from 1.'),
  stepsTotal: integer('How many steps it has.'),
  startedAt: timestamp('When it began.'),
  attempts: integer('How often the current step was tried.'),
  message: text('What it does now, or what it waits for.', { max: 1024 }),
});

export const pendingOrchestrations = list(
  'Operations that wait for their turn, in order.',
  object('A waiting operation.', {
    kind,
    message: text('What it will do and what it waits for.', { max: 1024 }).optional(),
  }),
  { max: 16 },
);

export const plan = object('What a change that has not started yet would do.', {
  steps: list('The steps, in order.', text('A step, for people.', { max: 512 }), { max: 128 }),
  podsTouched: integer('How many pods would restart.'),
  failovers: integer('How many planned failovers it would take.'),
  slotsMoved: integer('How many slots would move.'),
  waitsFor: text('What it waits for, such as a maintenance window.', { max: 512 }).optional(),
});

export type Orchestration = z.infer<typeof orchestration>;
export type PendingOrchestration = z.infer<typeof pendingOrchestrations>[number];
export type Plan = z.infer<typeof plan>;
