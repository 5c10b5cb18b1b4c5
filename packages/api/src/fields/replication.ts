import { builtInDefaults } from '../built-in-defaults.ts';
import { flag, integer, object } from '../schema/field.ts';
import type { Rule } from '../schema/rule.ts';

export const replication = object('How primaries feed their replicas. Applied without a restart.', {
  disklessSync: flag('Send a full sync from memory instead of from a file.').optional(),
  disklessSyncDelay: integer('Seconds to wait for more replicas before a diskless sync starts.', {
    min: 0,
    max: 3600,
  }).optional(),
  minReplicasToWrite: integer('A primary refuses writes with fewer replicas in touch than this; 0: never.', {
    min: 0,
    max: 5,
  }).optional(),
  minReplicasMaxLag: integer('Seconds without a sign after which a replica no longer counts as in touch.', {
    min: 1,
    max: 3600,
  }).optional(),
});

/** What ValkeyClusterDefaults would supply is not seen here, so more than is built in is asked for in the same place. */
export const minReplicasReachable: Rule = {
  rule:
    '!has(self.replication) || !has(self.replication.minReplicasToWrite) || ' +
    `self.replication.minReplicasToWrite <= (has(self.replicasPerMaster) ? self.replicasPerMaster : ${builtInDefaults.replicasPerMaster})`,
  message: `must be at most replicasPerMaster, which is ${builtInDefaults.replicasPerMaster} unless it is given beside it: no primary could ever accept a write`,
  fieldPath: '.replication.minReplicasToWrite',
};
