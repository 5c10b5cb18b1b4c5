import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasFeature, parseClusterNodes, SlotSet, type ValkeyVersion } from '@valkey-operator/valkey';
import { NODES_CONF } from '../data-directory.ts';
import { isUnborn, renderUnbornTable } from '../unborn.ts';
import type { Loan } from './decide.ts';

/** The words of a line before its slots. */
const SLOTS_FROM = 8;
const ZONE_FIELD = /,availability-zone=[^, ]*/g;
/** A slot that this node is importing. */
const IMPORT_ENTRY = / \[\d+-<-[^\]]+\]/g;

/**
 * Rewrites what Valkey itself has written and would now take for corrupted, and so never start again. The table stays the
 * same. No Valkey has it open: this one has yet to start.
 */
export async function mendNodesConf(directory: string, reader: ValkeyVersion | undefined): Promise<void> {
  await rewrite(directory, (text) => alignShardIds(dropUnknownFields(text, reader)));
}

/**
 * For a primary that another has taken over from, key by key in mid-move. Valkey would hear that the source of a slot has given
 * it away, to the successor as it happens, take that for its own move having ended, and claim the slot under a new epoch: and
 * with it all that it owned before, over the successor, which then deletes what clients have written to it since. Not what it
 * was giving away: clients are still sent on by that should it be elected again.
 */
export async function dropImports(directory: string): Promise<void> {
  await rewrite(directory, (text) => text.replaceAll(IMPORT_ENTRY, ''));
}

/** Slots that others have after all, and this node has not. */
export async function giveBack(directory: string, loans: readonly Loan[]): Promise<void> {
  await rewrite(directory, (text) => returnSlots(text, loans));
}

export function returnSlots(text: string, loans: readonly Loan[]): string {
  const given = loans.reduce((all, { slots }) => all.union(slots), SlotSet.empty);
  const lines = text.split('\n').map((line) => {
    const words = line.split(' ');
    const loan = loans.find(({ ownerId }) => ownerId === words[0])?.slots;
    const isOwn = words[2]?.split(',').includes('myself');
    if (!loan && !isOwn) return line;
    const isOpen = (word: string) => word.startsWith('[');
    const slots = words.slice(SLOTS_FROM);
    const before = SlotSet.parse(slots.filter((word) => !isOpen(word)).join(' '));
    const after = isOwn ? before.difference(given) : before.union(loan ?? SlotSet.empty);
    const owned = after.toString().split(',').filter(Boolean);
    return [...words.slice(0, SLOTS_FROM), ...owned, ...slots.filter(isOpen)].join(' ');
  });
  return lines.join('\n');
}

/** For a node that was never more than that. A table that cannot be read is left alone: Valkey will say what it is. */
export async function layOutTable(directory: string, podName: string): Promise<void> {
  await rewrite(directory, (text) =>
    text === '' || isUnborn(parseClusterNodes(text)) ? renderUnbornTable(podName) : text,
  );
}

/** Whole or not at all. One that is missing counts as empty. */
async function rewrite(directory: string, change: (text: string) => string): Promise<void> {
  const file = join(directory, NODES_CONF);
  const text = await readFile(file, 'utf8').catch(() => '');
  const changed = change(text);
  if (changed === text) return;
  await writeFile(`${file}.tmp`, changed);
  await rename(`${file}.tmp`, file);
}

/** After a downgrade: Valkey 9.1 writes the zone of each node down, a field that an older one does not know. */
function dropUnknownFields(text: string, reader: ValkeyVersion | undefined): string {
  if (!reader || hasFeature(reader, 'availabilityZoneInTopology')) return text;
  return text.replaceAll(ZONE_FIELD, '');
}

/**
 * A Valkey that ends before it has heard from all nodes may have written down replicas with shard ids of their own. Each is
 * of the shard of its primary.
 */
export function alignShardIds(text: string): string {
  const lines = text.split('\n').map((line) => line.split(' '));
  const shards = new Map(lines.map(([id, address]) => [id, /,shard-id=([^,]+)/.exec(address ?? '')?.[1]]));
  const align = ([id, address = '', flags, primaryId, ...rest]: readonly string[]) => {
    const [own, right] = [shards.get(id), shards.get(primaryId)];
    const aligned = own && right ? address.replace(`,shard-id=${own}`, `,shard-id=${right}`) : address;
    return [id, aligned, flags, primaryId, ...rest];
  };
  return lines.map((words) => (words.length > 3 ? align(words) : words).join(' ')).join('\n');
}
