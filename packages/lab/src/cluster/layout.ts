import { join } from 'node:path';
import { LabError } from '../errors.ts';

/**
 * Everything a lab is called and where it lives, derived from its name and a slot number. Pure, so that cleaning up
 * after a crash needs no memory of what was made: the same names are computed again.
 */
export interface LabLayout {
  name: string;
  slot: number;
  /** Files that make up the lab: certificates, configuration, logs, etcd, containerd roots, volumes. */
  dir: string;
  /** Sockets and containerd state: unix socket paths are limited to 107 bytes, so this one is short. */
  runDir: string;
  /** cgroup below which everything of the lab runs, in every hierarchy. */
  cgroup: string;
  /** Network namespace of the control plane; it holds the bridge that the nodes hang on. */
  switchNetns: string;
  /** The host's end of the only cable between the machine and the lab. */
  hostLink: string;
  controlPlaneAddress: string;
  hostAddress: string;
  nodeCidr: string;
  podCidr: string;
  serviceCidr: string;
  dnsAddress: string;
  kubeconfig: string;
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
}

export const STATE_ROOT = '/var/lib/valkey-lab';
export const RUN_ROOT = '/run/valkey-lab';
export const CGROUP_ROOT = '/valkey-lab';
/** Each lab takes one /16 for pods, one for services and one for nodes out of 10.200.0.0 - 10.247.255.255. */
export const MAX_LABS = 16;
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
  if (!Number.isInteger(count) || count < 1 || count > MAX_NODES) {
    throw new LabError('BadArgument', `a lab must have 1 to ${MAX_NODES} nodes, not ${count}`, 'pick another NODES');
  }
  return count;
}

export function labDir(name: string): string {
  return join(STATE_ROOT, assertLabName(name));
}

export function layoutLab(name: string, slot: number): LabLayout {
  const dir = labDir(name);
  return {
    name,
    slot,
    dir,
    runDir: join(RUN_ROOT, name),
    cgroup: `${CGROUP_ROOT}/${name}`,
    switchNetns: netnsName(name, 'switch'),
    hostLink: `vlab${slot}`,
    controlPlaneAddress: `10.${232 + slot}.0.1`,
    hostAddress: `10.${232 + slot}.0.254`,
    nodeCidr: `10.${232 + slot}.0.0/24`,
    podCidr: `10.${200 + slot}.0.0/16`,
    serviceCidr: `10.${216 + slot}.0.0/16`,
    dnsAddress: `10.${216 + slot}.0.10`,
    kubeconfig: join(dir, 'admin.kubeconfig'),
  };
}

export function layoutNode(lab: LabLayout, ordinal: number): NodeLayout {
  const name = `node${ordinal}`;
  return {
    name,
    ordinal,
    netns: netnsName(lab.name, name),
    address: `10.${232 + lab.slot}.0.${10 + ordinal}`,
    podCidr: `10.${200 + lab.slot}.${ordinal}.0/24`,
    zone: ZONES[(ordinal - 1) % ZONES.length]!,
    dir: join(lab.dir, name),
    runDir: join(lab.runDir, name),
    cgroup: `${lab.cgroup}/${name}`,
    containerdSocket: join(lab.runDir, name, 'containerd.sock'),
    switchPort: name,
  };
}

function netnsName(lab: string, part: string): string {
  return `valkey-lab-${lab}-${part}`;
}
