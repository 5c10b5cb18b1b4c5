import type { Lab } from './lab.ts';
import { setDropped, setNodeLink } from './network.ts';
import { signalProcess, waitForExit, waitForFreeze, type ProcessId } from './processes.ts';

/** What can go wrong in a lab, on purpose. Each returns when the fault is in force. */

const SIGNAL_EFFECT_MS = 15_000;

export async function killComponent(lab: Lab, name: string, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  const id = signalComponent(lab, name, signal);
  if (!(await waitForExit(id, SIGNAL_EFFECT_MS))) throw new Error(`${name} is still alive long after ${signal}`);
}

/** The process stops where it stands: its connections stay open and its peers wait. */
export async function freezeComponent(lab: Lab, name: string): Promise<void> {
  const id = signalComponent(lab, name, 'SIGSTOP');
  if (!(await waitForFreeze(id, SIGNAL_EFFECT_MS))) throw new Error(`${name} still moves long after SIGSTOP`);
}

export function thawComponent(lab: Lab, name: string): void {
  signalComponent(lab, name, 'SIGCONT');
}

function signalComponent(lab: Lab, name: string, signal: NodeJS.Signals): ProcessId {
  const { process: id } = lab.component(name);
  if (!signalProcess(id, signal)) throw new Error(`${name} of lab ${lab.name} does not run and gets no ${signal}`);
  return id;
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
