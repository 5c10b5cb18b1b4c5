import {
  apiVersion,
  type ValkeyCA,
  type ValkeyCluster,
  type ValkeyClusterDefaults,
  type ValkeyClusterStatus,
} from '@valkey-operator/api';
import { defineResource, type KubeObject } from '@valkey-operator/kube';

/** Our own kinds, as the Kubernetes client addresses them. */
export const valkeyClusters = defineResource<ValkeyCluster & KubeObject>(apiVersion, 'ValkeyCluster', 'valkeyclusters');
export const valkeyClusterStatuses = defineResource<ValkeyClusterStatus & KubeObject>(
  apiVersion,
  'ValkeyClusterStatus',
  'valkeyclusterstatuses',
);
export const valkeyClusterDefaults = defineResource<ValkeyClusterDefaults & KubeObject>(
  apiVersion,
  'ValkeyClusterDefaults',
  'valkeyclusterdefaults',
);
export const valkeyCas = defineResource<ValkeyCA & KubeObject>(apiVersion, 'ValkeyCA', 'valkeycas');
