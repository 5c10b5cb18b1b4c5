import { join } from 'node:path';
import { LabError } from '../errors.ts';

/**
 * What a lab is called and where it lives. Derived from its name alone, so that cleaning up after a crash needs no memory of
 * what was made: the same names are computed again.
 */
export interface LabNames {
  name: string;
  /** Files that make up the lab: certificates, configuration, logs, etcd, containerd roots, volumes. */
  dir: string;
  /** Sockets and containerd state: unix socket paths are limited to 107 bytes, so this one is short. */
  runDir: string;
  /** cgroup below which everything of the lab runs, in every hierarchy. */
  cgroup: string;
  /** Network namespace of the control plane; it holds the bridge that the nodes hang on. */
  switchNetns: string;
  kubeconfig: string;
}

/** The addresses of a lab follow from its slot, a number that no two labs of the machine share. */
export interface LabLayout extends LabNames {
  slot: number;
  /** The host's end of the only cable between the machine and the lab. */
  hostLink: string;
  /** The firewall table on the host that keeps the lab's packets in. */
  hostTable: string;
  controlPlaneAddress: string;
  hostAddress: string;
  nodeCidr: string;
  podCidr: string;
  serviceCidr: string;
  dnsAddress: string;
}

export interface NodeLayout {
  name: string;
  ordinal: number;
  netns: string;
  address: string;
  podCidr: string;
  zone: string;
  dir: string;
  runDir: string;
  cgroup: string;
  containerdSocket: string;
  /** The end of the node's cable that is plugged into the switch. */
  switchPort: string;
  /** A file that holds the node's mount namespace open (node-mounts.ts). */
  mountNamespace: string;
}

export const STATE_ROOT = '/var/lib/valkey-lab';
export const RUN_ROOT = '/run/valkey-lab';
export const CGROUP_ROOT = '/valkey-lab';
/** Each lab takes one /16 for pods, one for services and one for nodes out of 10.200.0.0 - 10.247.255.255. */
export const MAX_LABS = 16;
const FIRST_NET = { pods: 200, services: 216, nodes: 232 };
export const MAX_NODES = 50;
const ZONES = ['zone-a', 'zone-b', 'zone-c'];

export function assertLabName(name: string): string {
  if (!/^[a-z]([a-z0-9-]{0,18}[a-z0-9])?$/.test(name)) {
    throw new LabError(
      'BadArgument',
      `lab name "${name}" must be 1-20 lower-case letters, digits or dashes and start with a letter`,
      'pick another NAME',
    );
  }
  return name;
}

export function assertNodeCount(count: number): number {
  if (!Number.isInteger(count) || count < 1 || count > MAX_NODES) throw badNodeCount(count);
  return count;
}

/** A number of nodes as a person types it. */
export function parseNodeCount(text: string): number {
  if (!/^\d+$/.test(text)) throw badNodeCount(`"${text}"`);
  return assertNodeCount(Number(text));
}

function badNodeCount(given: number | string): LabError {
  return new LabError('BadArgument', `a lab must have 1 to ${MAX_NODES} nodes, not ${given}`, 'pick another NODES');
}

export function nameLab(name: string): LabNames {
  const dir = join(STATE_ROOT, assertLabName(name));
  return {
    name,
    dir,
    runDir: join(RUN_ROOT, name),
    cgroup: `${CGROUP_ROOT}/${name}`,
    switchNetns: netnsName(name, 'switch'),
    kubeconfig: join(dir, 'admin.kubeconfig'),
  };
}

export function layoutLab(name: string, slot: number): LabLayout {
  const { pods, services, nodes } = netsOf(slot);
  return {
    ...nameLab(name),
    slot,
    hostLink: `vlab${slot}`,
    hostTable: `valkey_lab_${slot}`,
    controlPlaneAddress: `${nodes}.0.1`,
    hostAddress: `${nodes}.0.254`,
    nodeCidr: `${nodes}.0.0/24`,
    podCidr: `${pods}.0.0/16`,
    serviceCidr: `${services}.0.0/16`,
    dnsAddress: `${services}.0.10`,
  };
}

export function layoutNode(lab: LabLayout, ordinal: number): NodeLayout {
  const name = `node${ordinal}`;
  const { pods, nodes } = netsOf(lab.slot);
  const runDir = join(lab.runDir, name);
  return {
    name,
    ordinal,
    netns: netnsName(lab.name, name),
    address: `${nodes}.0.${10 + ordinal}`,
    podCidr: `${pods}.${ordinal}.0/24`,
    zone: ZONES[(ordinal - 1) % ZONES.length]!,
    dir: join(lab.dir, name),
    runDir,
    cgroup: `${lab.cgroup}/${name}`,
    containerdSocket: join(runDir, 'containerd.sock'),
    switchPort: name,
    mountNamespace: join(runDir, 'namespaces', 'mount'),
  };
}

/** The two leading octets of a slot's three networks. */
export function netsOf(slot: number): { pods: string; services: string; nodes: string } {
  const { pods, services, nodes } = FIRST_NET;
  return { pods: `10.${pods + slot}`, services: `10.${services + slot}`, nodes: `10.${nodes + slot}` };
}

/** The slot of a lab whose control plane has this address. */
export function slotOf(controlPlaneAddress: string): number {
  return Number(controlPlaneAddress.split('.')[1]) - FIRST_NET.nodes;
}

/** Whether a network namespace of this name belongs to the lab. */
export function isNetnsOf(lab: LabNames, netns: string): boolean {
  const own = netnsName(lab.name, '');
  return netns.startsWith(own) && /^(switch|node\d+)$/.test(netns.slice(own.length));
}

function netnsName(lab: string, part: string): string {
  return `valkey-lab-${lab}-${part}`;
}
