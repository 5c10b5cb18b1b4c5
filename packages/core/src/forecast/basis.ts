import { createHash } from 'node:crypto';
import type { ClusterSnapshot } from '../snapshot.ts';
import { isOpen } from '../upgrade/upgrades.ts';

/** A forecast depends on what is asked for and on how things stand, without what changes all the time. */
export function findBasis({ spec, cluster, pods, claims, upgrades = [] }: ClusterSnapshot): string {
  const asked = upgrades.filter(isOpen).map((upgrade) => [upgrade.metadata.name, upgrade.spec]);
  const nodes = pods.map(({ uid, deletionTimestamp, report }) => {
    const { nodeId, role, primaryId, slots } = report?.cluster ?? {};
    // Of what grows with every write, the rough size.
    const { usedBytes, maxBytes, keys, expiringHashes } = (role === 'primary' && report?.memory) || {};
    const memory = [maxBytes, roughly(usedBytes), roughly(keys), (expiringHashes ?? 0) > 0];
    return [uid, deletionTimestamp, report?.process.state, nodeId, role, primaryId, slots, memory];
  });
  const volumes = claims.map(({ ordinal, storage, expandable }) => [ordinal, storage, expandable]);
  return `${digest([spec, cluster.metadata.annotations, asked])}-${digest([nodes, volumes])}`;
}

/** Of what was asked for then and now; a plan of that is worth something until there is a newer one. */
export function asksForTheSame(basis: string, other: string): boolean {
  return basis.split('-')[0] === other.split('-')[0];
}

function digest(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16);
}

function roughly(count: number | undefined): string | undefined {
  return count?.toPrecision(2);
}
