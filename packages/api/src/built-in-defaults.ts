import type { ClusterDefaults } from './kinds/valkey-cluster-defaults.ts';
import { ports } from './ports.ts';

/** The least of all defaults (B8). The CRD has none of these, or those of a namespace could never win. */
export const builtInDefaults = {
  valkeyImage: { name: 'docker.io/valkey/valkey', tag: '9.1', pullPolicy: 'IfNotPresent' },
  masterCount: 3,
  replicasPerMaster: 1,
  operatorMtls: { clientCertValidity: '12h', rotateBeforePercent: 66 },
  resources: { requests: { cpu: '100m', memory: '512Mi' }, limits: { memory: '512Mi' } },
  // The ids of the official image.
  securityContext: { runAsUser: 999, runAsGroup: 999, fsGroup: 999, fsGroupChangePolicy: 'OnRootMismatch' },
  backup: {
    database: { enabled: true, save: '3600 1 300 100 60 10000' },
    aof: { enabled: true, appendfsync: 'everysec', autoAofRewritePercentage: 100, autoAofRewriteMinSize: '64mb' },
  },
  // No delay: the operator attaches replicas one at a time, so there is nobody to wait for.
  replication: { disklessSync: true, disklessSyncDelay: 0, minReplicasToWrite: 0, minReplicasMaxLag: 10 },
  services: { client: { type: 'ClusterIP' }, read: { enabled: false }, external: { enabled: false } },
  sidecarImage: { name: 'ghcr.io/valkey-operator/sidecar', tag: '0.1.0', pullPolicy: 'IfNotPresent' },
  exporter: {
    enabled: false,
    image: { name: 'docker.io/oliver006/redis_exporter', tag: 'v1.69.0', pullPolicy: 'IfNotPresent' },
    port: ports.exporter,
    resources: { requests: { cpu: '10m', memory: '32Mi' }, limits: { memory: '64Mi' } },
  },
  maintenanceWindows: [],
  deletionPolicy: 'Retain',
} satisfies ClusterDefaults;

/** T, in which everything that is built in is there. */
export type WithBuiltIns<T> = Required<T, typeof builtInDefaults>;

// Resources are replaced as a whole, so what is inside of them stays optional.
type Required<T, D, Key = ''> = D extends unknown[]
  ? T
  : Key extends 'resources'
    ? T
    : D extends object
      ? { [K in keyof T as K extends keyof D ? K : never]-?: Required<NonNullable<T[K]>, D[K & keyof D], K> } & {
          [K in keyof T as K extends keyof D ? never : K]: T[K];
        }
      : T;
