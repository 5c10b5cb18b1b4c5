import { describe, expect, it, vi } from 'vitest';
import { awaitBirth } from './await-birth.ts';
import { aNode } from './testing/cluster-nodes.ts';
import { BECOME_PRIMARY } from './unborn.ts';
import { someFacts, type FactsChange } from './testing/valkey-facts.ts';
import type { ValkeyFacts } from './valkey-facts.ts';

const leader = aNode('leader', { noAddress: true });
const owner = aNode('owner', { slots: '100-16383' });

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
  awaitBirth(watch, log);
  const look = async (change: FactsChange | undefined) => {
    watch.facts = change && someFacts(change);
    listener();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { commands, look, log };
}

describe('an unborn node that comes to a cluster', () => {
  it('becomes a primary as soon as it hears of one with slots', async () => {
    const { commands, look } = aNodeThatWaits();
    const myself = aNode('me', { myself: true });
    await look({ myself, unborn: true, standIns: [leader, owner] });
    await look({ myself, unborn: true, standIns: [leader, owner], peers: [aNode('empty')] });
    expect(commands).toEqual([]);
    await look({ myself, unborn: true, standIns: [leader, owner], peers: [aNode('other', { slots: '0-9' })] });
    expect(commands).toEqual([BECOME_PRIMARY.join(' ')]);
  });
});

describe('when a node is born', () => {
  it('the stand-in that it followed is forgotten, and again when that has failed', async () => {
    let failures = 1;
    const { commands, look, log } = aNodeThatWaits(() => failures-- > 0);
    await look({ myself: aNode('me', { myself: true }), unborn: true, standIns: [leader, owner] });
    expect(commands).toEqual([]);
    await look({ standIns: [leader, owner] });
    expect(log.warn).toHaveBeenCalledOnce();
    await look({ standIns: [leader, owner] });
    expect(commands).toEqual(['CLUSTER FORGET leader', 'CLUSTER FORGET leader']);
  });

  it('the one in a handshake is left to go by itself', async () => {
    const { commands, look } = aNodeThatWaits();
    await look({ standIns: [owner] });
    await look({ standIns: [aNode('owner')] });
    expect(commands).toEqual([]);
  });
});
