import { existsSync, readdirSync } from 'node:fs';
import { run } from '../run.ts';
import { isNetnsOf, type LabLayout, type LabNames, type NodeLayout } from './layout.ts';

/**
 * The lab's network, and why no packet leaves it.
 *
 *   machine --vlab0--+
 *                    |           +-- node1 (netns): kubelet, pods 10.x.1.0/24
 *   control plane -- br0 --------+-- node2 (netns): ...
 *     (the "switch" netns)       +-- ...
 *
 * Only the machine's end of one veth pair touches the outside world, and the machine neither forwards from it nor
 * accepts connections from it. No namespace of the lab has a default route, and each one drops what is not addressed
 * to the lab itself.
 */
const BRIDGE = 'br0';
const ISOLATION_TABLE = 'valkey_lab_isolation';
const FAULTS_TABLE = 'valkey_lab_faults';

export async function createSwitch(lab: LabLayout): Promise<void> {
  const ns = lab.switchNetns;
  await addNetns(ns);
  await ipBatch(ns, [
    'link set lo up',
    `link add ${BRIDGE} type bridge`,
    `link set ${BRIDGE} up`,
    `address add ${lab.controlPlaneAddress}/24 dev ${BRIDGE}`,
  ]);
  await run('ip', ['link', 'add', lab.hostLink, 'type', 'veth', 'peer', 'name', 'host', 'netns', ns]);
  await ipBatch(ns, [`link set host master ${BRIDGE}`, 'link set host up']);
  await applyRules(undefined, hostRules(lab));
  await ipBatch(undefined, [
    `address add ${lab.hostAddress}/24 dev ${lab.hostLink}`,
    `link set ${lab.hostLink} up`,
    `route add ${lab.podCidr} via ${lab.controlPlaneAddress} dev ${lab.hostLink}`,
    `route add ${lab.serviceCidr} via ${lab.controlPlaneAddress} dev ${lab.hostLink}`,
  ]);
  await applyRules(ns, namespaceRules(lab));
}

export async function attachNode(lab: LabLayout, node: NodeLayout): Promise<void> {
  await addNetns(node.netns);
  await run('ip', [
    '-n',
    lab.switchNetns,
    'link',
    'add',
    node.switchPort,
    'type',
    'veth',
    'peer',
    'name',
    'eth0',
    'netns',
    node.netns,
  ]);
  await ipBatch(node.netns, [
    'link set lo up',
    'link set eth0 up',
    `address add ${node.address}/24 dev eth0`,
    // Pods of other nodes are reached through the switch, so a new node changes one route, not one in every node.
    `route add ${lab.podCidr} via ${lab.controlPlaneAddress}`,
    `route add ${lab.serviceCidr} via ${lab.controlPlaneAddress}`,
  ]);
  await applyRules(node.netns, namespaceRules(lab));
  await ipBatch(lab.switchNetns, [
    `link set ${node.switchPort} master ${BRIDGE}`,
    `link set ${node.switchPort} up`,
    `route add ${node.podCidr} via ${node.address}`,
    // kube-proxy of the newest node answers for Services when the control plane or the machine asks.
    `route replace ${lab.serviceCidr} via ${node.address}`,
  ]);
}

/** Cut or restore a node's cable: it stays alive but hears and reaches nobody. */
export async function setNodeLink(lab: LabLayout, node: NodeLayout, state: 'up' | 'down'): Promise<void> {
  await run('ip', ['-n', lab.switchNetns, 'link', 'set', node.switchPort, state]);
}

/** Start or stop dropping packets between two addresses, in both directions, wherever in the lab they pass. */
export async function setDropped(lab: LabLayout, a: string, b: string, dropped: boolean): Promise<void> {
  const verb = dropped ? 'add' : 'delete';
  const elements = `{ ${a} . ${b}, ${b} . ${a} }`;
  for (const ns of labNamespaces(lab)) {
    await applyRules(ns, `${verb} element inet ${FAULTS_TABLE} dropped ${elements}\n`);
  }
}

/** Pull a node's cable and forget it. */
export async function detachNode(lab: LabLayout, node: NodeLayout): Promise<void> {
  await run('ip', ['-n', lab.switchNetns, 'route', 'delete', node.podCidr], { allowFailure: true });
  await run('ip', ['netns', 'delete', node.netns], { allowFailure: true });
}

/** Remove what the lab has inside; the cable to the machine goes with its other end. */
export async function removeNamespaces(lab: LabNames): Promise<void> {
  for (const ns of labNamespaces(lab)) await run('ip', ['netns', 'delete', ns], { allowFailure: true });
}

/** Remove what the lab has on the machine itself. */
export async function removeHostNetwork(lab: LabLayout): Promise<void> {
  await run('ip', ['link', 'delete', lab.hostLink], { allowFailure: true });
  await run('nft', ['delete', 'table', 'inet', lab.hostTable], { allowFailure: true });
}

/** The network namespaces that belong to this lab by their name, whether or not the lab's record still knows them. */
export function labNamespaces(lab: LabNames): string[] {
  return existsSync('/run/netns') ? readdirSync('/run/netns').filter((ns) => isNetnsOf(lab, ns)) : [];
}

/** A lab whose files were deleted by hand still shows its slot in the address of its bridge. */
export async function readControlPlaneAddress(lab: LabNames): Promise<string | undefined> {
  const { stdout } = await run('ip', ['-n', lab.switchNetns, '-4', '-brief', 'address'], { allowFailure: true });
  return /\b(10\.\d+\.0\.1)\/24\b/.exec(stdout)?.[1];
}

async function addNetns(ns: string): Promise<void> {
  await run('ip', ['netns', 'add', ns]);
  const sysctls = {
    'net/ipv6/conf/all/disable_ipv6': 1,
    'net/ipv6/conf/default/disable_ipv6': 1,
    'net/ipv4/ip_forward': 1,
    'net/ipv4/conf/all/rp_filter': 0,
    'net/ipv4/conf/default/rp_filter': 0,
    // Traffic between nodes turns round in the switch on purpose; it must not advise the nodes to bypass it.
    'net/ipv4/conf/all/send_redirects': 0,
    'net/ipv4/conf/default/send_redirects': 0,
  };
  const script = Object.entries(sysctls).map(
    ([key, value]) => `[ ! -e /proc/sys/${key} ] || echo ${value} > /proc/sys/${key}`,
  );
  await inNetns(ns, 'sh', ['-ec', script.join('\n')]);
}

async function ipBatch(ns: string | undefined, commands: string[]): Promise<void> {
  await run('ip', [...(ns ? ['-n', ns] : []), '-batch', '-'], { input: `${commands.join('\n')}\n` });
}

async function applyRules(ns: string | undefined, rules: string): Promise<void> {
  if (ns) await inNetns(ns, 'nft', ['-f', '-'], rules);
  else await run('nft', ['-f', '-'], { input: rules });
}

function inNetns(ns: string, command: string, args: string[], input?: string) {
  return run('nsenter', [`--net=/run/netns/${ns}`, '--', command, ...args], input === undefined ? {} : { input });
}

function hostRules(lab: LabLayout): string {
  // Declared and deleted first, so that rules which a killed lab left behind are replaced.
  return `table inet ${lab.hostTable}
delete table inet ${lab.hostTable}
table inet ${lab.hostTable} {
  chain forward {
    type filter hook forward priority -10; policy accept;
    iifname "${lab.hostLink}" drop
    oifname "${lab.hostLink}" drop
  }
  chain input {
    type filter hook input priority -10; policy accept;
    iifname "${lab.hostLink}" ct state established,related accept
    iifname "${lab.hostLink}" icmp type { echo-reply, echo-request } accept
    iifname "${lab.hostLink}" drop
  }
}
`;
}

function namespaceRules(lab: LabLayout): string {
  const inside = `{ ${lab.nodeCidr}, ${lab.podCidr}, ${lab.serviceCidr}, 127.0.0.0/8 }`;
  return `table inet ${ISOLATION_TABLE} {
  chain forward {
    type filter hook forward priority -10; policy accept;
    meta nfproto ipv6 drop
    ip daddr != ${inside} drop
  }
  chain output {
    type filter hook output priority -10; policy accept;
    oifname "lo" accept
    meta nfproto ipv6 drop
    ip daddr != ${inside} drop
  }
}
table inet ${FAULTS_TABLE} {
  set dropped { type ipv4_addr . ipv4_addr; }
  chain input { type filter hook input priority -5; policy accept; ip saddr . ip daddr @dropped drop; }
  chain forward { type filter hook forward priority -5; policy accept; ip saddr . ip daddr @dropped drop; }
  chain output { type filter hook output priority -5; policy accept; ip saddr . ip daddr @dropped drop; }
}
`;
}
