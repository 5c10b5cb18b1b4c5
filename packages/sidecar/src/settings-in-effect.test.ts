import { canSetLive, parseVersion, type RespValue, ValkeyError } from '@valkey-operator/valkey';
import * as fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { NodeMemory } from './node-memory.ts';
import { SettingsInEffect } from './settings-in-effect.ts';
import { someFacts } from './testing/valkey-facts.ts';

const before = { hash: 'h1', settings: { maxmemory: '100mb', 'maxmemory-policy': 'allkeys-lru', databases: '16' } };

/** Two names of one value. */
const BUSY = ['busy-reply-threshold', 'lua-time-limit'];

const LIMITS = 'client-output-buffer-limit';

/** Classes that are not named keep what they have. */
function mergeLimits(present: string, change: string): string {
  const read = (text: string) => text.replaceAll('replica', 'slave').match(/\S+( \d+){3}/g) ?? [];
  const byClass = new Map([...read(present), ...read(change)].map((limit) => [limit.split(' ')[0], limit]));
  return [...byClass.values()].join(' ');
}

/** As much of a Valkey as CONFIG is about: it holds values, writes sizes in bytes, and takes all or none. */
function aValkey() {
  const values: Record<string, string> = {
    maxmemory: '104857600',
    'maxmemory-policy': 'allkeys-lru',
    databases: '16',
    port: '6379',
    hz: '10',
    'repl-backlog-size': '10485760',
    requirepass: '',
    loglevel: 'notice',
    'slave-priority': '100',
    'cluster-node-timeout': '5000',
    'busy-reply-threshold': '5000',
    'lua-time-limit': '5000',
    [LIMITS]: 'normal 0 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60',
  };
  const commands: string[] = [];
  const call = async (...[, verb, ...words]: string[]): Promise<RespValue> => {
    commands.push([verb, ...words].join(' '));
    if (verb === 'GET') return new Map(Object.entries(values));
    const pairs = words.flatMap((name, at) => (at % 2 === 0 ? [[name, words[at + 1]!] as const] : []));
    for (const [name, value] of pairs) {
      if (value === 'bad') throw new ValkeyError(`ERR CONFIG SET failed (possibly related to argument '${name}')`);
    }
    for (const [name, value] of pairs) {
      const now = values[name] ?? '';
      values[name] = name === 'hz' ? String(Math.min(500, Number(value))) : value;
      if (name === LIMITS) values[name] = mergeLimits(now, value);
      if (BUSY.includes(name)) for (const alias of BUSY) values[alias] = value;
    }
    return 'OK';
  };
  const sets = () => commands.filter((command) => command.startsWith('SET')).map((command) => command.slice(4));
  return { node: { call, refresh: async () => someFacts() }, values, sets };
}

async function start() {
  const valkey = aValkey();
  const memory = {
    current: { marker: 'm', running: before } as NodeMemory,
    update: async (change: Partial<NodeMemory>) => {
      memory.current = { ...memory.current, ...change };
    },
  };
  const settings = new SettingsInEffect({ node: valkey.node, memory });
  await settings.noteFirstAnswer(valkey.node.call);
  return { ...valkey, settings };
}

describe('new settings', () => {
  it('are set where they mean something else than what runs, in one command', async () => {
    const { settings, sets } = await start();
    const wanted = { ...before.settings, maxmemory: '104857600', 'maxmemory-policy': 'noeviction', hz: '20' };
    expect(await settings.put({ hash: 'h2', settings: wanted })).toBeUndefined();
    expect(sets()).toEqual(['maxmemory-policy noeviction hz 20']);
    expect(settings.report).toMatchObject({ runningHash: 'h2', restartFor: [], rejectedHash: '' });
  });

  it('are not set again when they run already', async () => {
    const { settings, sets } = await start();
    await settings.put(before);
    expect(sets()).toEqual([]);
  });

  it('that are there no more go back to the default', async () => {
    const { settings, sets } = await start();
    const { 'maxmemory-policy': _, ...rest } = before.settings;
    await settings.put({ hash: 'h2', settings: rest });
    expect(sets()).toEqual(['maxmemory-policy noeviction maxmemory 100mb']);
  });

  it.each([
    ['lua-time-limit', 'busy-reply-threshold', '7000'],
    ['lua-time-limit', 'busy-reply-threshold', '8000'],
    ['busy-reply-threshold', 'lua-time-limit', '7000'],
  ])('that are there no more under %s, but under %s, are what is given under that (%s)', async (one, other, value) => {
    const { settings, values } = await start();
    await settings.put({ hash: 'h2', settings: { [one]: '7000' } });
    expect(await settings.put({ hash: 'h3', settings: { [other]: value } })).toBeUndefined();
    expect(BUSY.map((name) => values[name])).toEqual([value, value]);
    await settings.look();
    expect(settings.report).toMatchObject({ runningHash: 'h3', drift: [] });
  });

  it('of one class of clients leave the others what Valkey gives them, whatever they were before', async () => {
    const { settings, values } = await start();
    await settings.put({ hash: 'h2', settings: { [LIMITS]: 'pubsub 67108864 33554432 60' } });
    expect(await settings.put({ hash: 'h3', settings: { [LIMITS]: 'replica 0 0 0' } })).toBeUndefined();
    expect(values[LIMITS]).toBe('normal 0 0 0 slave 0 0 0 pubsub 33554432 8388608 60');
  });

  it('that take a restart are noted', async () => {
    const { settings, sets } = await start();
    await settings.put({ hash: 'h2', settings: { ...before.settings, databases: '32' } });
    expect(sets()).toEqual([]);
    expect(settings.report).toMatchObject({ runningHash: 'h2', restartFor: ['databases'] });
  });

  it('that Valkey refuses change nothing, and its words are kept until settings are taken', async () => {
    const { settings, values } = await start();
    const words = "CONFIG SET failed (possibly related to argument 'maxmemory-policy')";
    const wanted = { hz: '20', ...before.settings, 'maxmemory-policy': 'bad' };
    expect(await settings.put({ hash: 'h2', settings: wanted })).toBe(words);
    expect(values['hz']).toBe('10');
    expect(settings.report).toMatchObject({ runningHash: 'h1', rejectedHash: 'h2', rejectedMessage: words });
    await settings.put(before);
    expect(settings.report).toMatchObject({ rejectedHash: '', rejectedMessage: '' });
  });

  it('that read back as something else are taken back', async () => {
    const { settings, values } = await start();
    const refusal = await settings.put({ hash: 'h2', settings: { ...before.settings, hz: '9999' } });
    expect(refusal).toBe("Valkey makes 500 of it (possibly related to argument 'hz')");
    expect(values['hz']).toBe('10');
    expect(settings.report.runningHash).toBe('h1');
  });
});

describe('whatever changes', () => {
  it('is either set or noted for a restart, and nothing else is touched', async () => {
    const version = parseVersion('9.1.2')!;
    const value = fc.integer({ min: 1, max: 400 }).map(String);
    const settings = fc.record({ maxmemory: value, hz: value, databases: value }, { requiredKeys: [] });
    await fc.assert(
      fc.asyncProperty(settings, settings, async (one, other) => {
        const { settings: running, values } = await start();
        for (const [hash, wanted] of Object.entries({ one, other })) await running.put({ hash, settings: wanted });
        const differs = (name: string, wanted: string) => values[name] !== wanted;
        const waiting = Object.entries(other).filter(([name, wanted]) => differs(name, wanted));
        expect(waiting.every(([name]) => running.report.restartFor.includes(name))).toBe(true);
        expect(running.report.restartFor.filter((name) => canSetLive(version, name))).toEqual([]);
        expect(values['port']).toBe('6379');
        if (!('hz' in other)) expect(values['hz']).toBe('10');
      }),
    );
  });
});

describe('what somebody else has set', () => {
  it('is told although no spec names it, and put back; a secret is told to nobody', async () => {
    const { settings, values } = await start();
    const right = { ...values };
    Object.assign(values, { 'repl-backlog-size': '1', requirepass: 'hunter2' });
    await settings.look();
    expect(settings.report.drift).toEqual([
      { name: 'repl-backlog-size', is: '1', should: '10485760' },
      { name: 'requirepass', is: '(secret)', should: '' },
    ]);
    await settings.put(before);
    expect(values).toEqual(right);
  });

  it('that is a secret is never written anywhere, whatever else is refused', async () => {
    const { settings, values, sets } = await start();
    values['requirepass'] = 'hunter2';
    expect(await settings.put({ hash: 'h2', settings: { ...before.settings, hz: '9999' } })).toContain(
      'makes 500 of it',
    );
    expect(sets().join()).not.toContain('secret');
    values['requirepass'] = 'hunter2';
    await settings.put({ hash: 'h3', settings: before.settings });
    expect(values['requirepass']).toBe('');
  });

  it('of the limits of a class of clients that the spec does not name is put back', async () => {
    const { settings, values } = await start();
    const wanted = { hash: 'h2', settings: { [LIMITS]: 'replica 0 0 0' } };
    await settings.put(wanted);
    const right = { ...values };
    values[LIMITS] = mergeLimits(values[LIMITS] ?? '', 'normal 1 1 1');
    await settings.look();
    expect(settings.report.drift).toMatchObject([{ name: LIMITS }]);
    expect(await settings.put(wanted)).toBeUndefined();
    expect(values).toEqual(right);
  });

  it('is told and put back also where this sidecar sets it now and then', async () => {
    const { settings, values } = await start();
    values['cluster-node-timeout'] = '600000';
    await settings.look();
    expect(settings.report.drift).toEqual([{ name: 'cluster-node-timeout', is: '600000', should: '5000' }]);
    await settings.put(before);
    expect(values['cluster-node-timeout']).toBe('5000');
  });

  it('is not told as that while this sidecar has it set, nor by a look that began before', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { settings, values } = await start();
    const looking = settings.look();
    const end = settings.beginOwnChange();
    values['cluster-node-timeout'] = '500';
    await looking;
    expect(settings.report.drift).toEqual([]);
    vi.advanceTimersByTime(60_000);
    await settings.look();
    expect(settings.report.drift).toEqual([]);
    end();
    await settings.look();
    expect(settings.report.drift).toEqual([{ name: 'cluster-node-timeout', is: '500', should: '5000' }]);
  });

  it('is left alone where it only serves to look closer, and under an old name', async () => {
    const { settings, values, sets } = await start();
    Object.assign(values, { loglevel: 'debug', 'slave-priority': '1' });
    await settings.look();
    expect(settings.report.drift).toEqual([]);
    await settings.put(before);
    expect(sets()).toEqual([]);
  });

  it('is not taken for what should be when other settings are put into effect before anybody has looked', async () => {
    const { settings, values } = await start();
    values['repl-backlog-size'] = '1';
    await settings.put({ hash: 'h2', settings: { ...before.settings, hz: '20' } });
    expect(values['repl-backlog-size']).toBe('10485760');
  });

  it('is told with what it should be, and put back with the settings, owned ones too', async () => {
    const { settings, values, sets } = await start();
    Object.assign(values, { maxmemory: '1', port: '7' });
    await settings.look();
    expect(settings.report.drift.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual([
      { name: 'maxmemory', is: '1', should: '104857600' },
      { name: 'port', is: '7', should: '6379' },
    ]);
    await settings.put(before);
    expect(sets()).toEqual(['port 6379 maxmemory 100mb']);
    expect(settings.report.drift).toEqual([]);
  });
});
