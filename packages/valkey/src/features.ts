import { compareReleaseLines, newestVerifiedLine, type ValkeyVersion } from './version.ts';

/** The release line in which each capability that we use came. */
const since = {
  /** CLUSTER MIGRATESLOTS, GETSLOTMIGRATIONS, CANCELSLOTMIGRATIONS. */
  atomicSlotMigration: [9, 0],
  /** `shutdown-on-sigterm failover`; fatal at start before. */
  shutdownOnSigtermFailover: [9, 0],
  /** CLUSTER REPLICATE NO ONE. */
  replicateNoOne: [9, 0],
  /** More than one database in cluster mode. */
  clusterDatabases: [9, 0],
  /** A time to live per hash field. Data that uses it cannot go back to an older line. */
  hashFieldExpiration: [9, 0],
  /** `tls-auto-reload-interval`; fatal at start before. */
  tlsAutoReload: [9, 1],
  /** Users by the URI of their certificate: `tls-auth-clients-user URI`. */
  tlsUserByUri: [9, 1],
  /** `db=`, `alldbs`, `resetdbs` in ACL rules; an older server does not start on them. */
  databaseAcl: [9, 1],
  /** The availability zone in CLUSTER SLOTS and SHARDS. */
  availabilityZoneInTopology: [9, 1],
} as const satisfies Record<string, readonly [major: number, minor: number]>;

export type ValkeyFeature = keyof typeof since;

export function hasFeature(version: ValkeyVersion, feature: ValkeyFeature): boolean {
  const [major, minor] = since[feature];
  return compareReleaseLines(version, { major, minor, patch: 0 }) >= 0;
}

/** The RDB format that a line writes: 8.x still writes "REDIS0011", 9.x "VALKEY080". An older format is always read. */
export function rdbFormat(version: ValkeyVersion): number {
  return version.major >= 9 ? 80 : 11;
}

/**
 * Whether `reader` can load the RDB or AOF files that `writer` left. A line newer than all we have verified may have
 * changed its format, so going back from it is never assumed to work.
 */
export function canLoadFilesOf(reader: ValkeyVersion, writer: ValkeyVersion): boolean {
  if (compareReleaseLines(reader, writer) >= 0) return true;
  if (compareReleaseLines(writer, newestVerifiedLine) > 0) return false;
  return rdbFormat(reader) >= rdbFormat(writer);
}
