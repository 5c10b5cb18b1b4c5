import { object } from '../schema/field.ts';
import { objectName } from '../schema/name.ts';
import { quantity } from '../schema/quantity.ts';
import type { Rule } from '../schema/rule.ts';

const sizeOnlyGrows: Rule = {
  rule: 'quantity(string(self.storageSize)).compareTo(quantity(string(oldSelf.storageSize))) >= 0',
  message: 'must not shrink: a volume can only grow; restore a backup into a new deployment to use smaller volumes',
  reason: 'FieldValueForbidden',
  fieldPath: '.storageSize',
};

const classStays: Rule = {
  rule:
    'has(self.storageClassName) == has(oldSelf.storageClassName) && ' +
    '(!has(self.storageClassName) || self.storageClassName == oldSelf.storageClassName)',
  message: 'must not change after creation: restore a backup into a new deployment to use another storage class',
  reason: 'FieldValueForbidden',
  fieldPath: '.storageClassName',
};

export const pvc = object(
  'Volume of every Valkey pod. None: an emptyDir, whose data ends with the pod. Immutable after creation, but storageSize may grow.',
  {
    storageSize: quantity('Size of the volume. May grow when the storage class allows expansion.'),
    storageClassName: objectName('StorageClass of the volume; none: the default class of the cluster.').optional(),
  },
  { rules: [sizeOnlyGrows, classStays] },
);

export const pvcStays: Rule = {
  rule: 'has(self.pvc) == has(oldSelf.pvc)',
  message: 'must not be added or removed after creation: restore a backup into a new deployment instead',
  reason: 'FieldValueForbidden',
  fieldPath: '.pvc',
};
