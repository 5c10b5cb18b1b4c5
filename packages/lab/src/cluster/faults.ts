import { killCgroup } from './cgroups.ts';
import type { Lab } from './lab.ts';
import { setDropped, setNodeLink } from './network.ts';
import { signalProcess, waitForExit } from './processes.ts';

/** What can go wrong in a lab, on purpose. Each returns when the fault is in force. */

export async function killComponent(lab: Lab, name: string, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  const { process: id } = lab.component(name);
  if (!id || !signalProcess(id, signal)) throw new Error(`${name} of lab ${lab.name} does not run, so it cannot be killed`);
  if (!(await waitForExit(id, 15_000))) throw new Error(`${name} of lab ${lab.name} is still alive 15 s after ${signal}`);
}

/** The process stops where it stands: its connections stay open and its peers wait. */
export function freezeComponent(lab: Lab, name: string): void {
  const { process: id } = lab.component(name);
  if (!id || !signalProcess(id, 'SIGSTOP')) throw new Error(`${name} of lab ${lab.name} does not run, so it cannot be frozen`);
}

export function thawComponent(lab: Lab, name: string): void {
  const { process: id } = lab.component(name);
  if (!id || !signalProcess(id, 'SIGCONT')) throw new Error(`${name} of lab ${lab.name} does not run, so it cannot be thawed`);
}

/** The node goes on working but is cut off from everyone. */
export function partitionNode(lab: Lab, node: string): Promise<void> {
  return setNodeLink(lab.layout, lab.node(node), 'down');
}

export function healPartition(lab: Lab, node: string): Promise<void> {
  return setNodeLink(lab.layout, lab.node(node), 'up');
}

/** Drop all packets between two addresses (pods, nodes, control plane) until the returned function is called. */
export async function dropTraffic(lab: Lab, a: string, b: string): Promise<() => Promise<void>> {
  await setDropped(lab.layout, a, b, true);
  return () => setDropped(lab.layout, a, b, false);
}

/** Power off: the kubelet, the container runtime and every container of the node die at once. */
export async function stopNode(lab: Lab, node: string): Promise<void> {
  const layout = lab.node(node);
  await setNodeLink(lab.layout, layout, 'down');
  await killCgroup(layout.cgroup);
}

/** Power on: the node comes back with its disks as they were. */
export async function startNode(lab: Lab, node: string): Promise<void> {
  await setNodeLink(lab.layout, lab.node(node), 'up');
  for (const program of ['containerd', 'kubelet', 'kube-proxy']) lab.start(`${node}/${program}`);
}
