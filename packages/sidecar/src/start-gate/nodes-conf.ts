import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasFeature, type ValkeyVersion } from '@valkey-operator/valkey';
import { NODES_CONF } from '../data-directory.ts';

const ZONE_FIELD = /,availability-zone=[^, ]*/g;

/**
 * After a downgrade: Valkey 9.1 writes the zone of each node into nodes.conf, and an older one takes a file with a field that
 * it does not know for corrupted. Without that field it is the same table. No Valkey has it open: this one has yet to start.
 */
export async function dropUnknownFields(directory: string, reader: ValkeyVersion): Promise<void> {
  if (hasFeature(reader, 'availabilityZoneInTopology')) return;
  const file = join(directory, NODES_CONF);
  const text = await readFile(file, 'utf8').catch(() => '');
  const known = text.replaceAll(ZONE_FIELD, '');
  if (known === text) return;
  await writeFile(`${file}.tmp`, known);
  await rename(`${file}.tmp`, file);
}
