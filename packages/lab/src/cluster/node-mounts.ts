import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { listMounts } from '../list-mounts.ts';
import { run } from '../run.ts';
import type { NodeLayout } from './layout.ts';

/**
 * containerd's shims, the CNI plugins and the kubelet keep state at paths that no option moves. Every node sees its own
 * directory there: nodes do not meet in it, a containerd or kubelet of the machine itself is not disturbed, and all of it
 * goes with the node.
 */
const OWN_DIRECTORIES = [
  '/run/containerd',
  '/var/lib/cni',
  '/var/lib/kubelet',
  '/var/log/containers',
  '/var/log/pods',
] as const;

/**
 * Make the node's mount namespace. What its containers and volumes mount is seen by nobody else, and the kernel undoes it
 * when the namespace ends, however the node's programs ended.
 */
export async function createNodeMounts(node: NodeLayout): Promise<void> {
  if (listMounts().includes(node.mountNamespace)) return;
  const holder = dirname(node.mountNamespace);
  mkdirSync(holder, { recursive: true });
  writeFileSync(node.mountNamespace, '');
  // A namespace can only be held by a file on a mount that passes nothing on.
  await run('mount', ['--bind', '--make-private', holder, holder]);
  const binds = OWN_DIRECTORIES.map((path) => {
    const own = join(path.startsWith('/run/') ? node.runDir : node.dir, 'own', path);
    mkdirSync(own, { recursive: true });
    mkdirSync(path, { recursive: true });
    return `mount --bind ${own} ${path}`;
  });
  // Shared again inside: containers take part in what the kubelet mounts for them.
  const script = ['mount --make-rshared /', ...binds].join('\n');
  await run('unshare', [`--mount=${node.mountNamespace}`, '--propagation=private', 'sh', '-ec', script]);
}

/** End the mount namespace. Nothing may run in it any more. */
export async function removeNodeMounts(node: NodeLayout): Promise<void> {
  for (const path of [node.mountNamespace, dirname(node.mountNamespace)]) {
    await run('umount', ['--lazy', path], { allowFailure: true });
  }
}
