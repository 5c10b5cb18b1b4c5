import { describe, expect, test } from 'vitest';
import { usesSlot } from './lab-record.ts';

/** What `ip route` and `ip -brief link` of a machine print, as words. */
const words = (text: string) => text.split(/\s+/);

describe('a slot of addresses is in use', () => {
  test.each([
    ['by a route to the pods of a lab', '10.201.0.0/16 via 10.233.0.1 dev vlab1'],
    ['by a route to its Services', '10.217.0.0/16 dev tun0 scope link'],
    ['by an address among its nodes', 'local 10.233.0.254 dev eth1 table local'],
    ['by a narrower route', 'unreachable 10.201.77.4'],
    ['by a link of its name', 'vlab1@if2 DOWN 2a:00:00:00:00:01 <BROADCAST>'],
  ])('%s', (_by, text) => {
    expect(usesSlot(words(text), 1)).toBe(true);
    expect(usesSlot(words(text), 0)).toBe(false);
  });

  test('not by other networks, nor by a link whose name begins alike', () => {
    const text = 'default via 172.16.0.1 dev eth0 10.20.0.0/16 dev eth1 110.201.0.0/16 dev eth2 vlab10@if2 UP';
    expect(usesSlot(words(text), 1)).toBe(false);
  });
});
