import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { importImages, type BuiltImage } from '../images/index.ts';
import { withLock } from '../process-lock.ts';
import { run } from '../run.ts';
import { createCgroup, removeCgroup } from './cgroups.ts';
import { withMachineLock } from './lab-record.ts';
import { CGROUP_ROOT, RUN_ROOT, STATE_ROOT } from './layout.ts';
import { startComponent, stopProcess } from './processes.ts';

/**
 * Images are unpacked once for all nodes of all labs: a containerd root that no node runs on is filled, and each new node
 * starts with a copy of it. The copy is hard links (layers are never written to), so it costs neither time nor disk; only
 * containerd's two small databases are really copied.
 */
const STORE = join(STATE_ROOT, '.images');
const STORE_RUN = join(RUN_ROOT, '.images');
const CGROUP = `${CGROUP_ROOT}/.images`;
/** What the store holds, written only after all of it is in: a store without it was cut off and is made anew. */
const CONTENTS = join(STORE, 'contents.json');

export function fillImageStore(images: BuiltImage[]): Promise<void> {
  return withLock(STORE, () => fill(images));
}

async function fill(images: BuiltImage[]): Promise<void> {
  const wanted = Object.fromEntries(images.map(({ ref, digest }) => [ref, digest]));
  const held = readContents();
  if (held && Object.entries(wanted).every(([ref, digest]) => held[ref] === digest)) return;
  if (!held) rmSync(STORE, { recursive: true, force: true });
  rmSync(CONTENTS, { force: true });
  await withContainerd((address) => importImages({ containerdAddress: address, images }));
  writeFileSync(CONTENTS, JSON.stringify({ ...held, ...wanted }, null, 1));
}

/** Give a node its own containerd root with all images in it. */
export function copyImageStore(root: string): Promise<void> {
  return withLock(STORE, () => copy(root));
}

async function copy(root: string): Promise<void> {
  mkdirSync(join(root, '..'), { recursive: true });
  await run('cp', ['--archive', '--link', STORE, root]);
  for (const database of [
    'io.containerd.metadata.v1.bolt/meta.db',
    'io.containerd.snapshotter.v1.overlayfs/metadata.db',
  ]) {
    await run('cp', ['--archive', '--remove-destination', join(STORE, database), join(root, database)]);
  }
}

function readContents(): Record<string, string> | undefined {
  try {
    return existsSync(CONTENTS) ? (JSON.parse(readFileSync(CONTENTS, 'utf8')) as Record<string, string>) : undefined;
  } catch {
    return undefined;
  }
}

async function withContainerd(work: (address: string) => Promise<unknown>): Promise<void> {
  await removeCgroup(CGROUP); // a filling that was killed may have left its containerd
  mkdirSync(STORE, { recursive: true });
  mkdirSync(STORE_RUN, { recursive: true });
  await withMachineLock(async () => createCgroup(CGROUP)); // the last lab to go takes an empty parent along
  const address = join(STORE_RUN, 'containerd.sock');
  const config = join(STORE_RUN, 'containerd.toml');
  writeFileSync(
    config,
    `version = 2
root = "${STORE}"
state = "${join(STORE_RUN, 'state')}"
disabled_plugins = ["io.containerd.grpc.v1.cri"]
[grpc]
  address = "${address}"
[debug]
  address = ""
`,
  );
  const process = startComponent({
    name: 'image-store/containerd',
    argv: ['containerd', `--config=${config}`, '--log-level=warn'],
    log: join(STORE_RUN, 'containerd.log'),
    cgroup: CGROUP,
  });
  try {
    await work(address);
  } finally {
    await stopProcess(process);
    await removeCgroup(CGROUP);
    rmSync(STORE_RUN, { recursive: true, force: true });
  }
}
