import { age, defineKind, phase, ready, reason, type Resource } from '../define-kind.ts';
import { deploymentStatus } from '../fields/deployment-status.ts';
import { nodeDefaults, nodeOwn, nodeRules, nodeTransitions } from '../fields/node-spec.ts';
import { replication } from '../fields/replication.ts';
import { resources } from '../fields/resources.ts';
import { integer, object, text } from '../schema/field.ts';
import { validDeploymentName } from '../schema/name.ts';
import type { Rule } from '../schema/rule.ts';

const quorumReachable: Rule = {
  rule: '!has(self.quorum) || (self.quorum >= 1 && self.quorum <= self.count)',
  message: 'must be between 1 and count: more sentinels than there are can never agree',
  fieldPath: '.quorum',
};

const sentinels = object(
  'The sentinels, which watch the primary and choose its successor.',
  {
    count: integer('How many sentinels run.', {
      min: 3,
      max: 9,
      why: 'with fewer than three, the loss of one stops every failover',
    }).default(3),
    quorum: integer('How many must agree that the primary is gone; none: the majority.').optional(),
    resources: resources('Resources of each sentinel.').optional(),
  },
  { rules: [quorumReachable] },
);

const minReplicasReachable: Rule = {
  rule: '!has(self.replication) || !has(self.replication.minReplicasToWrite) || self.replication.minReplicasToWrite <= self.replicas',
  message: 'must be at most replicas: the primary could never accept a write',
  fieldPath: '.replication.minReplicasToWrite',
};

const spec = object(
  'What the deployment shall be. A field left out is built in.',
  {
    replicas: integer('Replicas of the primary.', {
      min: 1,
      max: 5,
      why: 'a failover needs a replica, and every replica costs the primary a copy of each write',
    }).default(2),
    sentinels: sentinels.prefault({}),
    replication: replication.optional(),
    ...nodeDefaults,
    ...nodeOwn,
  },
  { rules: [minReplicasReachable, ...nodeRules, ...nodeTransitions] },
);

export const valkeySentinel = defineKind({
  kind: 'ValkeySentinel',
  plural: 'valkeysentinels',
  shortNames: ['vsen'],
  description:
    'A primary with replicas, watched by sentinels. The Services <name>-primary and <name>-replicas follow the roles.',
  installed: false,
  spec,
  rules: validDeploymentName,
  status: object('What the deployment is.', {
    ...deploymentStatus,
    primary: text('Pod of the primary.', { max: 63 }).optional(),
    replicas: text('Replicas ready of those wanted: 2/2.', { max: 16 }).optional(),
    sentinels: text('Sentinels ready of those wanted: 3/3.', { max: 16 }).optional(),
  }),
  columns: [
    ready,
    phase,
    { name: 'Primary', description: 'Pod of the primary.', jsonPath: '.status.primary' },
    { name: 'Replicas', description: 'Replicas ready of those wanted.', jsonPath: '.status.replicas' },
    { name: 'Sentinels', description: 'Sentinels ready of those wanted.', jsonPath: '.status.sentinels' },
    { name: 'Version', description: 'Version of Valkey.', jsonPath: '.status.version' },
    age,
    reason,
  ],
});

export type ValkeySentinel = Resource<typeof valkeySentinel>;
