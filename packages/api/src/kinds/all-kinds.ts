import type { Kind } from '../define-kind.ts';
import { valkeyBackupSchedule } from './valkey-backup-schedule.ts';
import { valkeyBackup } from './valkey-backup.ts';
import { valkeyCa } from './valkey-ca.ts';
import { valkeyCertificateBinding } from './valkey-certificate-binding.ts';
import { valkeyCertificateBundle } from './valkey-certificate-bundle.ts';
import { valkeyClusterAcl } from './valkey-cluster-acl.ts';
import { valkeyClusterDefaults } from './valkey-cluster-defaults.ts';
import { valkeyClusterStatus } from './valkey-cluster-status.ts';
import { valkeyClusterTls } from './valkey-cluster-tls.ts';
import { valkeyCluster } from './valkey-cluster.ts';
import { valkeyMultiCluster } from './valkey-multi-cluster.ts';
import { valkeyRestore } from './valkey-restore.ts';
import { valkeySentinel } from './valkey-sentinel.ts';
import { valkeyStandalone } from './valkey-standalone.ts';
import { valkeyUpgrade } from './valkey-upgrade.ts';

export const allKinds: readonly Kind[] = [
  valkeyCluster,
  valkeyClusterStatus,
  valkeyClusterDefaults,
  valkeyClusterTls,
  valkeyClusterAcl,
  valkeyCa,
  valkeyCertificateBundle,
  valkeyCertificateBinding,
  valkeyUpgrade,
  valkeyBackup,
  valkeyBackupSchedule,
  valkeyRestore,
  valkeyStandalone,
  valkeySentinel,
  valkeyMultiCluster,
];

/** Kinds that have a controller. */
export const installedKinds: readonly Kind[] = allKinds.filter((kind) => kind.installed);

export const kindByName = (name: string): Kind | undefined => allKinds.find((kind) => kind.kind === name);
