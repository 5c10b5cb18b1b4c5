import { describe, expect, it, vi } from 'vitest';
import { awaitBirth } from './await-birth.ts';
import { aNode } from './testing/cluster-nodes.ts';
import { BECOME_PRIMARY } from './unborn.ts';
import { someFacts, type FactsChange } from './testing/valkey-facts.ts';
import type { ValkeyFacts } from './valkey-facts.ts';

const leader = aNode('leader');
const owner = aNode('owner', { slots: '100-16383' });
const long = 'CONFIG SET cluster-node-timeout 86400000';
const usual = 'CONFIG SET cluster-node-timeout 5000';

function aNodeThatWaits(refuse: (command: string) => boolean = () => false) {
  const commands: string[] = [];
  let listener = () => undefined as void;
  const watch = {
    facts: undefined as ValkeyFacts | undefined,
    subscribe: (each: () => void) => {
      listener = each;
      return () => undefined;
    },
    refresh: async () => someFacts(),
    call: async (...args: string[]) => {
      commands.push(args.join(' '));
      if (refuse(commands.at(-1)!)) throw new Error('not now');
      return 'OK';
    },
  };
  const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  awaitBirth({ watch, nodeTimeoutMs: async () => 5000, log });
  const look = async (change: FactsChange | undefined) => {
    watch.facts = change && someFacts(change);
    listener();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { commands, look, log };
}

describe('while a node is unborn', () => {
  it('its stand-ins are kept by a long node timeout, which is set once', async () => {
    const { commands, look } = aNodeThatWaits();
    await look({ unborn: true, standIns: [leader, owner] });
    await look({ unborn: true, standIns: [leader, owner] });
    expect(commands).toEqual([long]);
  });

  it('that is tried again when it fails, and when Valkey has restarted', async () => {
    let failures = 1;
    const { commands, look, log } = aNodeThatWaits(() => failures-- > 0);
    await look({ unborn: true });
    expect(log.warn).toHaveBeenCalledOnce();
    await look({ unborn: true });
    await look(undefined);
    await look({ unborn: true });
    expect(commands).toEqual([long, long, long]);
  });
});

describe('an unborn node that comes to a cluster', () => {
  it('becomes a primary as soon as it hears of one with slots', async () => {
    const { commands, look } = aNodeThatWaits();
    const myself = aNode('me', { myself: true });
    await look({ myself, unborn: true, standIns: [leader, owner] });
    await look({ myself, unborn: true, standIns: [leader, owner], peers: [aNode('empty')] });
    expect(commands).toEqual([long]);
    await look({ myself, unborn: true, standIns: [leader, owner], peers: [aNode('other', { slots: '0-9' })] });
    expect(commands).toEqual([long, BECOME_PRIMARY.join(' ')]);
  });
});

describe('when a node is born', () => {
  it('its node timeout is the usual one, and the stand-in that it followed is forgotten', async () => {
    const { commands, look } = aNodeThatWaits();
    await look({ unborn: true, standIns: [leader, owner] });
    await look({ standIns: [leader, owner] });
    expect(commands).toEqual([long, usual, 'CLUSTER FORGET leader']);
  });

  it('the owner of slots is left to go by itself, or forgotten when others have them', async () => {
    const { commands, look } = aNodeThatWaits();
    await look({ standIns: [owner] });
    expect(commands).toEqual([]);
    await look({ standIns: [aNode('owner')] });
    expect(commands).toEqual([usual, 'CLUSTER FORGET owner']);
  });

  it('nothing is done any more', async () => {
    const { commands, look } = aNodeThatWaits();
    await look({});
    expect(commands).toEqual([]);
  });
});
