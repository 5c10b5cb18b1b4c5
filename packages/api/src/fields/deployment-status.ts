import { conditions, observedGeneration } from '../conditions.ts';
import { text } from '../schema/field.ts';
import { aclStatus, exporterStatus, phase, tlsStatus } from './feature-status.ts';
import { orchestration } from './orchestration.ts';

/** What every deployment of Valkey tells of itself, whatever its topology. */
export const deploymentStatus = {
  phase: phase.optional(),
  observedGeneration: observedGeneration.optional(),
  version: text('Version of Valkey that runs; during an upgrade the oldest one.', { max: 64 }).optional(),
  endpoint: text('Where clients connect.', { max: 512 }).optional(),
  orchestration: orchestration.optional(),
  tls: tlsStatus.optional(),
  acl: aclStatus.optional(),
  exporter: exporterStatus.optional(),
  conditions: conditions.optional(),
};
