import { choice, flag } from '../schema/field.ts';
import { objectName } from '../schema/name.ts';
import { immutableField, type Rule } from '../schema/rule.ts';
import { exporter } from './exporter.ts';
import { image } from './image.ts';
import { maintenanceWindows } from './maintenance-windows.ts';
import { operatorMtls } from './operator-mtls.ts';
import { persistence } from './persistence.ts';
import { pvc, pvcStays } from './pvc.ts';
import { limitAboveMaxmemory, resources } from './resources.ts';
import { scheduling } from './scheduling.ts';
import { securityContext } from './security-context.ts';
import { annotations, labels } from './user-metadata.ts';
import { valkeyConfig } from './valkey-config.ts';

/** What every Valkey node needs, whatever the topology around it, and what ValkeyClusterDefaults may supply. */
export const nodeDefaults = {
  valkeyImage: image('Image of Valkey 8.0 or newer. Changing it upgrades node by node, replicas first.').optional(),
  operatorMtls: operatorMtls.optional(),
  ...scheduling,
  resources: resources(
    'Resources of the Valkey container; maxmemory is derived from limits.memory unless config sets it. Changed in place where Kubernetes can, else by rolling the pods.',
  ).optional(),
  labels: labels.optional(),
  annotations: annotations.optional(),
  securityContext: securityContext.optional(),
  pvc: pvc.optional(),
  backup: persistence.optional(),
  config: valkeyConfig.optional(),
  sidecarImage: image(
    'Image of the sidecar; none: the one released with the operator. Changing it rolls the pods.',
  ).optional(),
  exporter: exporter.optional(),
  maintenanceWindows: maintenanceWindows.optional(),
  deletionPolicy: choice('What happens to the volumes when this resource is deleted.', ['Delete', 'Retain']).optional(),
};

/** What only the deployment itself may state, because leaving it out has a meaning of its own. */
export const nodeOwn = {
  allowDowngrade: flag(
    'Permits a change to an older Valkey that cannot read the data files of the newer one. Refused otherwise.',
  ).optional(),
  tls: objectName('A ValkeyClusterTls in this namespace; none: no TLS. Without effect in this version.').optional(),
  acl: objectName(
    'A ValkeyClusterAcl in this namespace; none: no users and no password. Can be added later, but then neither changed nor removed. Without effect in this version.',
  ).optional(),
  management: choice(
    'Bound: the operator manages it. Unbound: the operator does nothing about it, neither create nor repair nor report; what runs is left to its sidecars.',
    ['Bound', 'Unbound'],
  ).default('Bound'),
};

const aclOnlyAdded: Rule = {
  rule: '!has(oldSelf.acl) || (has(self.acl) && self.acl == oldSelf.acl)',
  message:
    'must not change once set, so that data is never left open: change the users in the Secret of the ValkeyClusterAcl instead',
  reason: 'FieldValueForbidden',
  fieldPath: '.acl',
};

/** Rules on the fields above that also hold for defaults. */
export const nodeRules: readonly Rule[] = [limitAboveMaxmemory];

/** Rules on what may change after creation. */
export const nodeTransitions: readonly Rule[] = [
  immutableField('securityContext', 'the files on the volumes belong to its ids; create a new deployment instead'),
  pvcStays,
  aclOnlyAdded,
];
