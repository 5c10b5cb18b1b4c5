import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { LabError } from '../errors.ts';
import { run } from '../run.ts';
import type { BuiltImage } from './build-images.ts';
import { layoutEntries, listBlobs } from './oci-image.ts';
import { tar } from './tar.ts';

export interface ImportImagesOptions {
  containerdAddress: string;
  images: readonly BuiltImage[];
  snapshotter?: string;
}

/**
 * Give a node the images it does not hold yet, in one stream, without the layers it holds already: after a change of
 * code that is one bundle, not another copy of Node. Returns the names that were imported.
 */
export async function importImages({
  containerdAddress,
  images,
  snapshotter = 'overlayfs',
}: ImportImagesOptions): Promise<string[]> {
  const ctr = ['--address', containerdAddress, '--namespace', 'k8s.io'];
  const held = parseImageList((await run('ctr', [...ctr, 'images', 'ls'])).stdout);
  const missing = images.filter(({ ref, digest }) => held.get(ref) !== digest);
  const [first] = missing;
  if (!first) return [];

  const heldBlobs = new Set((await run('ctr', [...ctr, 'content', 'ls', '--quiet'])).stdout.split('\n'));
  const blobs = (await Promise.all(missing.map(({ store, manifest }) => listBlobs(store, manifest)))).flat();
  const index = missing.map(({ ref, manifest }) => ({ ...manifest, annotations: { 'io.containerd.image.name': ref } }));
  const send = (skipped: ReadonlySet<string>) => {
    const sent = blobs.filter(({ digest }) => !skipped.has(digest));
    const archive = tar(layoutEntries(first.store, index, sent));
    return feed('ctr', [...ctr, 'images', 'import', '--snapshotter', snapshotter, '-'], archive);
  };
  // What no image refers to any more may be collected between the look and the import: then everything is sent.
  await send(heldBlobs).catch(() => send(new Set()));
  return missing.map(({ ref }) => ref);
}

/** Name -> digest, from the table that `ctr images ls` prints. */
export function parseImageList(table: string): Map<string, string> {
  const rows = table.matchAll(/^(\S+)\s+\S+\s+(sha256:[0-9a-f]{64})\s/gm);
  return new Map([...rows].map(([, ref, digest]) => [ref!, digest!]));
}

async function feed(command: string, args: string[], input: AsyncIterable<Uint8Array>): Promise<void> {
  const child = spawn(command, args, { stdio: ['pipe', 'ignore', 'pipe'] });
  const exit = once(child, 'close');
  const [fed, said] = await Promise.allSettled([pipeline(input, child.stdin), text(child.stderr), exit]);
  const [code] = await exit;
  // When the command gives up early the pipe breaks too; what it said is the better explanation.
  const reason =
    (said.status === 'fulfilled' && said.value.trim()) || (fed.status === 'rejected' && String(fed.reason));
  if (code !== 0 || fed.status === 'rejected') {
    throw new LabError('CommandFailed', `${command} ${args.join(' ')} failed: ${reason}`, 'see the log of containerd');
  }
}
