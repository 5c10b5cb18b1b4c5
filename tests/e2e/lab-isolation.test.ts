import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { createLab, type Lab, removeLab } from '@valkey-operator/lab';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { toManifests, valkeyServer } from './support/workloads.ts';

/**
 * That no packet leaves the machine is shown by looking at routes, rules and cables of every namespace. Nothing is sent:
 * `ip route get` only asks the kernel which way it would take.
 */
const SIZES = { inner: 2, other: 1 };
/** What a Kubernetes listens on. The labs start while all of it is taken on the machine. */
const KUBERNETES_PORTS = [2379, 2380, 6443, 10248, 10249, 10250, 10256, 10257, 10259];

let labs: Lab[];
let squatters: Server[];

beforeAll(async () => {
  squatters = await Promise.all(KUBERNETES_PORTS.map(occupy));
  labs = [];
  for (const [name, nodes] of Object.entries(SIZES)) {
    await removeLab(name);
    const lab = await createLab({ name, nodes });
    labs.push(lab);
    await lab.apply(toManifests(valkeyServer('pod', { node: 'node1' })));
    await lab.kubectl(['wait', '--for=create', '--timeout=30s', 'pod/pod-0']);
    await lab.kubectl(['wait', '--for=condition=Ready', '--timeout=60s', 'pod/pod-0']);
  }
});

afterAll(async () => {
  for (const squatter of squatters) squatter.close();
  await Promise.all(Object.keys(SIZES).map((name) => removeLab(name)));
});

test('labs need no port of the machine: they run although all of Kubernetes’ ports are taken', async () => {
  for (const lab of labs) {
    expect((await lab.kubectl(['get', '--raw', '/readyz'])).stdout).toBe('ok');
    expect((await lab.kubectl(['exec', 'pod-0', '--', 'valkey-cli', 'PING'])).stdout).toBe('PONG\n');
  }
});

describe.each(Object.keys(SIZES).map((name, index) => [name, index] as const))('lab %s', (_name, index) => {
  const lab = () => labs[index]!;

  test('has no way out of the namespaces of its control plane and nodes', () => {
    for (const netns of innerNamespaces(lab())) {
      expect(tool(netns, 'ip', '-4', 'route')).not.toContain('default');
      expect(tool(netns, 'ip', '-6', 'route')).toBe('');
      for (const address of addressesOutside(lab())) expect(routeTo(netns, address)).toContain('unreachable');
    }
  });

  test('drops what is not addressed to itself, wherever it comes from', () => {
    const { nodeCidr, podCidr, serviceCidr } = lab().layout;
    const dropped = `meta nfproto ipv6 drop ip daddr != { ${podCidr}, ${serviceCidr}, ${nodeCidr}, 127.0.0.0/8 } drop }`;
    for (const netns of innerNamespaces(lab())) {
      const rules = squeeze(tool(netns, 'nft', 'list', 'table', 'inet', 'valkey_lab_isolation'));
      expect(rules).toContain(`hook forward priority filter - 10; policy accept; ${dropped}`);
      expect(rules).toContain(`hook output priority filter - 10; policy accept; oifname "lo" accept ${dropped}`);
    }
  });

  test('leads its pods to their node and nowhere else', () => {
    const node = lab().nodes[0]!;
    const gateway = node.podCidr.replace(/0\/24$/, '1');
    const pods = listPods(lab());
    expect(pods.length).toBeGreaterThan(0);
    for (const netns of pods) {
      expect(interfaces(netns)).toEqual(['lo', 'eth0']);
      expect(tool(netns, 'ip', '-4', 'route')).toContain(`default via ${gateway} dev eth0`);
      expect(tool(netns, 'ip', '-6', 'route', 'show', 'default')).toBe('');
      for (const address of addressesOutside(lab()))
        expect(routeTo(netns, address)).toContain(`via ${gateway} dev eth0`);
    }
  });

  test('hangs on one cable to the machine, which neither forwards from it nor accepts connections from it', () => {
    const { switchNetns, hostLink, hostTable } = lab().layout;
    const ports = lab().nodes.map(({ switchPort }) => switchPort);
    expect(interfaces(file(switchNetns)).toSorted()).toEqual(['br0', 'host', 'lo', ...ports]);
    const rules = squeeze(tool(undefined, 'nft', 'list', 'table', 'inet', hostTable));
    expect(rules).toContain(
      `chain forward { type filter hook forward priority filter - 10; policy accept; iifname "${hostLink}" drop oifname "${hostLink}" drop }`,
    );
    expect(rules).toMatch(new RegExp(`chain input .* iifname "${hostLink}" drop \\}`));
    expect(rules).not.toMatch(/nat|masquerade/);
  });

  test('is translated to no address of the machine', () => {
    const { hostLink } = lab().layout;
    const mine = new RegExp(
      `${hostLink}|${networksOf(lab())
        .map((net) => net.replaceAll('.', '\\.'))
        .join('|')}`,
    );
    const translations = tool(undefined, 'nft', 'list', 'ruleset')
      .split('\n')
      .filter((line) => /masquerade|snat|dnat/.test(line));
    expect(translations.filter((line) => mine.test(line))).toEqual([]);
  });
});

test('labs have no address in common', () => {
  const networks = labs.map(networksOf);
  expect(new Set(networks.flat()).size).toBe(networks.flat().length);
});

async function occupy(port: number): Promise<Server> {
  const server = createServer();
  server.listen(port, '0.0.0.0');
  // When somebody else listens there already, it is taken as well.
  await Promise.race([once(server, 'listening'), once(server, 'error')]);
  return server;
}

function tool(netns: string | undefined, command: string, ...args: string[]): string {
  const [program, ...rest] = [...(netns ? ['nsenter', `--net=${netns}`, '--'] : []), command, ...args];
  return execFileSync(program!, rest, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** The way that the kernel of a namespace would send a packet, or why it would not. */
function routeTo(netns: string, address: string): string {
  try {
    return tool(netns, 'ip', 'route', 'get', address);
  } catch (error) {
    return (error as { stderr: string }).stderr;
  }
}

function file(netns: string): string {
  return `/run/netns/${netns}`;
}

/** The switch, which the control plane runs in, and the nodes. */
function innerNamespaces(lab: Lab): string[] {
  return [lab.layout.switchNetns, ...lab.nodes.map(({ netns }) => netns)].map(file);
}

/** The network namespaces of all pods of the first node, found by the processes of their containers. */
function listPods(lab: Lab): string[] {
  const tasks = tool(undefined, 'ctr', '--address', lab.nodes[0]!.containerdSocket, '-n', 'k8s.io', 'task', 'ls');
  return [...tasks.matchAll(/^\S+\s+(\d+)\s+RUNNING/gm)].map(([, pid]) => `/proc/${pid!}/ns/net`);
}

function interfaces(netns: string): string[] {
  return [...tool(netns, 'ip', '-brief', 'link').matchAll(/^[^\s@]+/gm)].map(([name]) => name);
}

function networksOf({ layout }: Lab): string[] {
  return [layout.nodeCidr, layout.podCidr, layout.serviceCidr];
}

/** Somewhere else: the Internet (addresses kept for documentation), the machine's own network, the other lab. */
function addressesOutside(lab: Lab): string[] {
  const others = labs.filter(({ name }) => name !== lab.name);
  const foreign = others.flatMap(({ layout, nodes }) => [
    layout.controlPlaneAddress,
    layout.dnsAddress,
    nodes[0]!.address,
  ]);
  const machine = Object.entries(networkInterfaces())
    .filter(([link]) => !/^vlab\d+$/.test(link))
    .flatMap(([, addresses]) => addresses ?? [])
    .filter(({ family, internal }) => family === 'IPv4' && !internal)
    .map(({ address }) => address);
  return ['192.0.2.1', '198.51.100.1', ...machine, ...foreign];
}

function squeeze(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}
