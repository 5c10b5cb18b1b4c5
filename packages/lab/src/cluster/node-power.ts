import { killCgroup } from './cgroups.ts';
import type { Lab } from './lab.ts';
import { setNodeLink } from './network.ts';
import { createNodeMounts, removeNodeMounts } from './node-mounts.ts';
import { waitForContainerd } from './wait.ts';

/** Power off: the kubelet, the container runtime and every container of the node die at once, and what was mounted is lost. */
export async function stopNode(lab: Lab, node: string): Promise<void> {
  const layout = lab.node(node);
  await setNodeLink(lab.layout, layout, 'down');
  await killCgroup(layout.cgroup);
  await removeNodeMounts(layout);
}

/** Power on: the node comes back with its disks as they were. What still runs on it is left alone. */
export async function startNode(lab: Lab, node: string): Promise<void> {
  const layout = lab.node(node);
  await createNodeMounts(layout);
  await setNodeLink(lab.layout, layout, 'up');
  lab.start(`${node}/containerd`);
  await waitForContainerd(lab, layout);
  for (const program of ['kubelet', 'kube-proxy']) lab.start(`${node}/${program}`);
}
