import type * as admission from 'kubernetes-types/admissionregistration/v1.js';
import type * as apps from 'kubernetes-types/apps/v1.js';
import type * as batch from 'kubernetes-types/batch/v1.js';
import type * as coordination from 'kubernetes-types/coordination/v1.js';
import type * as core from 'kubernetes-types/core/v1.js';
import type * as networking from 'kubernetes-types/networking/v1.js';
import type * as policy from 'kubernetes-types/policy/v1.js';
import type * as storage from 'kubernetes-types/storage/v1.js';
import type { KubeObject } from './object.ts';
import { defineResource } from './resource.ts';

export type ConfigMap = core.ConfigMap & KubeObject;
export type Event = core.Event & KubeObject;
export type Job = batch.Job & KubeObject;
export type Lease = coordination.Lease & KubeObject;
export type Namespace = core.Namespace & KubeObject;
export type NetworkPolicy = networking.NetworkPolicy & KubeObject;
export type Node = core.Node & KubeObject;
export type PersistentVolume = core.PersistentVolume & KubeObject;
export type PersistentVolumeClaim = core.PersistentVolumeClaim & KubeObject;
/** Since Kubernetes 1.34 its status says which spec its kubelet has seen; the types do not know that yet. */
export type Pod = core.Pod & KubeObject & { status?: { observedGeneration?: number } };
export type PodDisruptionBudget = policy.PodDisruptionBudget & KubeObject;
export type Secret = core.Secret & KubeObject;
export type Service = core.Service & KubeObject;
export type ServiceAccount = core.ServiceAccount & KubeObject;
export type StorageClass = storage.StorageClass & KubeObject;
export type StatefulSet = apps.StatefulSet & KubeObject;
export type ValidatingWebhookConfiguration = admission.ValidatingWebhookConfiguration & KubeObject;

export const configMaps = defineResource<ConfigMap>('v1', 'ConfigMap', 'configmaps');
export const customResourceDefinitions = defineResource<KubeObject>(
  'apiextensions.k8s.io/v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
  'Cluster',
);
export const events = defineResource<Event>('v1', 'Event', 'events');
export const jobs = defineResource<Job>('batch/v1', 'Job', 'jobs');
export const leases = defineResource<Lease>('coordination.k8s.io/v1', 'Lease', 'leases');
export const namespaces = defineResource<Namespace>('v1', 'Namespace', 'namespaces', 'Cluster');
export const networkPolicies = defineResource<NetworkPolicy>(
  'networking.k8s.io/v1',
  'NetworkPolicy',
  'networkpolicies',
);
export const nodes = defineResource<Node>('v1', 'Node', 'nodes', 'Cluster');
export const persistentVolumes = defineResource<PersistentVolume>(
  'v1',
  'PersistentVolume',
  'persistentvolumes',
  'Cluster',
);
export const persistentVolumeClaims = defineResource<PersistentVolumeClaim>(
  'v1',
  'PersistentVolumeClaim',
  'persistentvolumeclaims',
);
export const pods = defineResource<Pod>('v1', 'Pod', 'pods');
export const podDisruptionBudgets = defineResource<PodDisruptionBudget>(
  'policy/v1',
  'PodDisruptionBudget',
  'poddisruptionbudgets',
);
export const secrets = defineResource<Secret>('v1', 'Secret', 'secrets');
export const services = defineResource<Service>('v1', 'Service', 'services');
export const serviceAccounts = defineResource<ServiceAccount>('v1', 'ServiceAccount', 'serviceaccounts');
export const statefulSets = defineResource<StatefulSet>('apps/v1', 'StatefulSet', 'statefulsets');
export const storageClasses = defineResource<StorageClass>(
  'storage.k8s.io/v1',
  'StorageClass',
  'storageclasses',
  'Cluster',
);
export const validatingWebhookConfigurations = defineResource<ValidatingWebhookConfiguration>(
  'admissionregistration.k8s.io/v1',
  'ValidatingWebhookConfiguration',
  'validatingwebhookconfigurations',
  'Cluster',
);
