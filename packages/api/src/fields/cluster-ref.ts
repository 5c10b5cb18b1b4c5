import { object } from '../schema/field.ts';
import { objectName } from '../schema/name.ts';

export const clusterRef = object('The ValkeyCluster, in this namespace.', { name: objectName('Its name.') });
