import { conditions, observedGeneration } from '../conditions.ts';
import { age, defineKind, phase as phaseColumn, ready, reason, type Resource } from '../define-kind.ts';
import { aclStatus, exporterStatus, phase, tlsStatus } from '../fields/feature-status.ts';
import { nodeDefaults, nodeOwn, nodeRules, nodeTransitions } from '../fields/node-spec.ts';
import { orchestration } from '../fields/orchestration.ts';
import { object, text } from '../schema/field.ts';
import { validDeploymentName } from '../schema/name.ts';

const spec = object(
  'What the instance shall be. A field left out is built in.',
  { ...nodeDefaults, ...nodeOwn },
  { rules: [...nodeRules, ...nodeTransitions] },
);

export const valkeyStandalone = defineKind({
  kind: 'ValkeyStandalone',
  plural: 'valkeystandalones',
  shortNames: ['vs'],
  description: 'A single Valkey, without replicas.',
  installed: false,
  spec,
  rules: validDeploymentName,
  status: object('What the instance is.', {
    phase: phase.optional(),
    observedGeneration: observedGeneration.optional(),
    version: text('Version of Valkey that runs.', { max: 64 }).optional(),
    endpoint: text('Where clients connect.', { max: 512 }).optional(),
    orchestration: orchestration.optional(),
    tls: tlsStatus.optional(),
    acl: aclStatus.optional(),
    exporter: exporterStatus.optional(),
    conditions: conditions.optional(),
  }),
  columns: [
    ready,
    phaseColumn,
    { name: 'Version', description: 'Version of Valkey.', jsonPath: '.status.version' },
    { name: 'Endpoint', description: 'Where clients connect.', jsonPath: '.status.endpoint' },
    age,
    reason,
  ],
});

export type ValkeyStandalone = Resource<typeof valkeyStandalone>;
