import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  assertLabName,
  isNetnsOf,
  layoutLab,
  layoutNode,
  MAX_LABS,
  MAX_NODES,
  nameLab,
  parseNodeCount,
  slotOf,
} from './layout.ts';

const labName = fc.stringMatching(/^[a-z]([a-z0-9-]{0,18}[a-z0-9])?$/);
const labNames = fc.uniqueArray(labName, { minLength: 2, maxLength: MAX_LABS });

/** A network as the range of addresses it covers. */
function range(cidr: string): [number, number] {
  const [address, bits = '32'] = cidr.split('/');
  const start = address!.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0);
  return [start, start + 2 ** (32 - Number(bits)) - 1];
}

function overlaps(a: string, b: string): boolean {
  const [[startA, endA], [startB, endB]] = [range(a), range(b)];
  return startA <= endB && startB <= endA;
}

const contains = (outer: string, inner: string) =>
  range(outer)[0] <= range(inner)[0] && range(inner)[1] <= range(outer)[1];

describe('the layout of labs', () => {
  test('gives no two labs a name, a directory or an address in common', () => {
    fc.assert(
      fc.property(labNames, (names) => {
        const labs = names.map((name, slot) => layoutLab(name, slot));
        for (const key of ['dir', 'runDir', 'cgroup', 'switchNetns', 'hostLink', 'hostTable', 'kubeconfig'] as const) {
          expect(new Set(labs.map((lab) => lab[key])).size).toBe(labs.length);
        }
        const networks = labs.flatMap((lab) => [lab.nodeCidr, lab.podCidr, lab.serviceCidr]);
        for (const [index, network] of networks.entries()) {
          expect(networks.slice(index + 1).filter((other) => overlaps(network, other))).toEqual([]);
        }
      }),
    );
  });

  test('gives no two nodes of a lab anything in common, and keeps them inside the networks of their lab', () => {
    const lab = layoutLab('any', MAX_LABS - 1);
    const nodes = Array.from({ length: MAX_NODES }, (_, index) => layoutNode(lab, index + 1));
    for (const key of [
      'name',
      'netns',
      'address',
      'podCidr',
      'dir',
      'cgroup',
      'switchPort',
      'mountNamespace',
    ] as const) {
      expect(new Set(nodes.map((node) => node[key])).size).toBe(nodes.length);
    }
    for (const node of nodes) {
      expect(contains(lab.nodeCidr, node.address)).toBe(true);
      expect(contains(lab.podCidr, node.podCidr)).toBe(true);
      expect([lab.controlPlaneAddress, lab.hostAddress]).not.toContain(node.address);
    }
  });

  test('keeps all addresses of Services and of the control plane in their networks', () => {
    for (let slot = 0; slot < MAX_LABS; slot++) {
      const lab = layoutLab('any', slot);
      expect(contains(lab.serviceCidr, lab.dnsAddress)).toBe(true);
      expect(contains(lab.nodeCidr, lab.controlPlaneAddress)).toBe(true);
      expect(contains('10.200.0.0/5', lab.nodeCidr)).toBe(true);
      expect(slotOf(lab.controlPlaneAddress)).toBe(slot);
    }
  });

  test('spreads nodes over three zones', () => {
    const zones = [1, 2, 3, 4].map((ordinal) => layoutNode(layoutLab('any', 0), ordinal).zone);
    expect(zones).toEqual(['zone-a', 'zone-b', 'zone-c', 'zone-a']);
  });

  test('keeps sockets and link names within what the kernel allows', () => {
    const lab = layoutLab('a'.repeat(20), MAX_LABS - 1);
    const node = layoutNode(lab, MAX_NODES);
    expect(node.containerdSocket.length).toBeLessThan(108);
    for (const link of [lab.hostLink, node.switchPort]) expect(link.length).toBeLessThan(16);
  });

  test('knows the network namespaces of a lab from those of a lab whose name begins alike', () => {
    fc.assert(
      fc.property(labName, labName, fc.integer({ min: 1, max: MAX_NODES }), (name, other, ordinal) => {
        fc.pre(name !== other);
        const lab = layoutLab(name, 0);
        expect(isNetnsOf(lab, lab.switchNetns)).toBe(true);
        expect(isNetnsOf(lab, layoutNode(lab, ordinal).netns)).toBe(true);
        expect(isNetnsOf(nameLab(other), lab.switchNetns)).toBe(false);
      }),
    );
    expect(isNetnsOf(nameLab('a'), layoutLab('a-b', 0).switchNetns)).toBe(false);
    expect(isNetnsOf(nameLab('a'), layoutNode(layoutLab('a-node1', 0), 2).netns)).toBe(false);
  });
});

describe('names and numbers that people type', () => {
  test.each(['', 'A', '1a', 'a-', '-a', 'a_b', 'a b', '../a', '.images', 'a'.repeat(21)])(
    'the name %j is refused',
    (name) => {
      expect(() => assertLabName(name)).toThrow(`lab name "${name}" must be 1-20 lower-case letters, digits or dashes`);
    },
  );

  test.each(['a', 'a1', 'my-lab', 'a'.repeat(20)])('the name %j is taken', (name) => {
    expect(assertLabName(name)).toBe(name);
  });

  test.each(['0', '51', '-1', '1.5', '1e1', '', 'three', ' 3'])('%j is no number of nodes', (text) => {
    expect(() => parseNodeCount(text)).toThrow(/a lab must have 1 to 50 nodes, not/);
  });

  test('1 and 50 are numbers of nodes', () => {
    expect([parseNodeCount('1'), parseNodeCount('50')]).toEqual([1, 50]);
  });
});
