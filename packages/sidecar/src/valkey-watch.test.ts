import { ValkeyError, type RespValue } from '@valkey-operator/valkey';
import { connect } from '@valkey-operator/valkey/connection';
import { describe, expect, it } from 'vitest';
import { FakeValkey } from './testing/fake-valkey.ts';
import { ValkeyWatch, type ProcessPhase } from './valkey-watch.ts';

const id = 'a'.repeat(40);
const info = (runId: string) => `# Server
valkey_version:9.1.2
run_id:${runId}
process_id:1
uptime_in_seconds:1
server_mode:cluster
`;
const clusterInfo = ['state:ok', 'slots_assigned:0', 'slots_ok:0', 'slots_pfail:0', 'slots_fail:0', 'known_nodes:1']
  .concat(['size:0', 'current_epoch:0', 'my_epoch:0'])
  .map((field) => `cluster_${field}\r\n`)
  .join('');

function sayNormal(command: string): RespValue {
  if (command.startsWith('INFO')) return info('run');
  if (command === 'CLUSTER INFO') return clusterInfo;
  if (command === 'CLUSTER NODES') return `${id} 10.0.0.1:6379@16379 myself,master - 0 0 0 connected\n`;
  return command === 'CLUSTER GETSLOTMIGRATIONS' ? [] : 'shard';
}

function watchOf(fake: FakeValkey): ValkeyWatch {
  return new ValkeyWatch({
    connect: (signal) => connect({ address: { path: fake.path }, timeoutMs: 5000, signal }),
    nextLookMs: () => undefined,
    onFirstAnswer: async () => undefined,
  });
}

function enters(watch: ValkeyWatch, phase: ProcessPhase): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const check = () => watch.view.phase === phase && resolve();
  const stop = watch.subscribe(check);
  check();
  return promise.finally(stop);
}

/** Against a socket that speaks RESP (see FakeValkey). */
describe('the watch over Valkey', () => {
  it('finds one that runs already, as after a restart of the sidecar', async () => {
    await using fake = new FakeValkey(sayNormal);
    await fake.start();
    const watch = watchOf(fake);
    await watch.attach();
    expect(watch.view).toMatchObject({ phase: 'running', restarts: 0 });
    expect(watch.facts?.cluster?.myself.id).toBe(id);
    watch.close();
  });

  it('connects to one that has been let through the gate as soon as it listens', async () => {
    await using fake = new FakeValkey(sayNormal);
    const watch = watchOf(fake);
    await watch.attach();
    expect(watch.view.phase).toBe('absent');
    watch.noteAsked();
    watch.noteStart();
    const running = enters(watch, 'running');
    await fake.start();
    await running;
    expect(watch.view.restarts).toBe(0);
    watch.close();
  });

  it('notes the end of the process when its socket closes, and takes a cut connection for nothing worse', async () => {
    await using fake = new FakeValkey(sayNormal);
    await fake.start();
    const watch = watchOf(fake);
    await watch.attach();
    const cut = enters(watch, 'starting');
    fake.dropConnections();
    await cut;
    await enters(watch, 'running');
    expect(watch.view.lastEnd).toBeUndefined();

    const ended = enters(watch, 'exited');
    await fake.kill();
    await ended;
    expect(watch.view.lastEnd).toMatchObject({ reason: 'crashed' });
    expect(watch.facts).toBeUndefined();
    watch.close();
  });

  it('tells an end that was asked for from a crash, and counts starts after the first', async () => {
    await using fake = new FakeValkey(sayNormal);
    await fake.start();
    const watch = watchOf(fake);
    watch.noteAsked();
    watch.noteStart();
    await enters(watch, 'running');
    watch.stopRequested = true;
    watch.noteAsked();
    expect(watch.view).toMatchObject({ phase: 'starting', restarts: 1, lastEnd: { reason: 'requested' } });
    watch.noteStart();
    watch.noteAsked();
    expect(watch.view).toMatchObject({ restarts: 2, lastEnd: { reason: 'never-answered' } });
    watch.close();
  });

  it('counts an error as an answer: a busy script is life, silence is not', async () => {
    await using fake = new FakeValkey(sayNormal);
    await fake.start();
    const watch = watchOf(fake);
    await watch.attach();
    fake.answer = () => new ValkeyError('BUSY Valkey is busy running a script.');
    await expect(watch.refresh()).rejects.toThrow('BUSY');
    expect(watch.view).toMatchObject({ phase: 'running', unansweredSince: undefined });

    fake.answer = () => undefined;
    await expect(watch.refresh(1)).rejects.toThrow('no reply in time');
    expect(watch.view.phase).toBe('unresponsive');
    expect(watch.view.unansweredSince).toBeInstanceOf(Date);
    watch.close();
  });

  it('knows one that loads, which answers no question about the cluster', async () => {
    await using fake = new FakeValkey((command) =>
      command.startsWith('CLUSTER') ? new ValkeyError('LOADING Valkey is loading the dataset in memory') : info('run'),
    );
    await fake.start();
    const watch = watchOf(fake);
    await watch.attach();
    expect(watch.view.phase).toBe('loading');
    expect(watch.facts?.cluster).toBeUndefined();
    watch.close();
  });
});
