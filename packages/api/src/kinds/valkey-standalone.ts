import { age, defineKind, phase, ready, reason, type Resource } from '../define-kind.ts';
import { deploymentStatus } from '../fields/deployment-status.ts';
import { nodeDefaults, nodeOwn, nodeRules, nodeTransitions } from '../fields/node-spec.ts';
import { object } from '../schema/field.ts';
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
  status: object('What the instance is.', deploymentStatus),
  columns: [
    ready,
    phase,
    { name: 'Version', description: 'Version of Valkey.', jsonPath: '.status.version' },
    { name: 'Endpoint', description: 'Where clients connect.', jsonPath: '.status.endpoint' },
    age,
    reason,
  ],
});

export type ValkeyStandalone = Resource<typeof valkeyStandalone>;
