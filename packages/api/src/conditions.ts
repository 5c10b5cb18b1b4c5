import type { z } from 'zod';
import { choice, integer, list, object, text, timestamp } from './schema/field.ts';

/** Condition types of a deployment, with what `True` means. */
export const clusterConditions = {
  Ready: 'every slot is served and every wanted replica is in sync',
  Progressing: 'an orchestration is running or waits to run',
  Degraded: 'something is lost or broken that the operator repairs, or that waits for a person',
  SlotsAssigned: 'all 16384 slots have a primary',
  TLSConfigured: 'every node serves the certificate that the spec asks for',
  ACLSynced: 'every node has the users that the spec asks for',
  BackupHealthy: 'the last scheduled backup succeeded',
  DriftDetected: 'something managed was changed by someone else',
  Paused: 'the operator watches but does not act',
} as const;

export type ClusterConditionType = keyof typeof clusterConditions;

const condition = object('One aspect of the state, after the Kubernetes API conventions.', {
  type: text('What the condition is about, such as Ready.', { max: 316 }),
  status: choice('Whether it holds.', ['True', 'False', 'Unknown']),
  reason: text('Why, in one CamelCase word that programs can compare.', { max: 1024 }),
  message: text('Why, for people, and what to do.', { max: 32_768 }),
  lastTransitionTime: timestamp('When the status last changed.'),
  observedGeneration: integer('The generation of the spec that this speaks of.').optional(),
});

export type Condition = z.infer<typeof condition>;

export const conditions = list('The state, one aspect each.', condition, { max: 32, key: 'type' });

export const observedGeneration = integer('The generation of the spec that this status speaks of.');
