import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseClusterNodes, parseConf } from '@valkey-operator/valkey';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readEnvironment } from '../environment.ts';
import { MemoryFiles } from '../node-memory.ts';
import { aNode } from '../testing/cluster-nodes.ts';
import { variables } from '../testing/variables.ts';
import { isUnborn } from '../unborn.ts';
import type { PeerAnswer } from './decide.ts';
import { ensureFifo } from './fifo.ts';
import { StartGate, type GateHold } from './start-gate.ts';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
const wasPrimary = `me 10.0.0.1:6379@16379 myself,master - 0 0 5 connected 0-99
replica 10.0.0.2:6379@16379 slave me 0 0 5 connected
vars currentEpoch 5 lastVoteEpoch 0
`;
const replicaIsAlive: PeerAnswer = {
  id: 'replica',
  nodes: [aNode('me', { slots: '0-99', configEpoch: 5 }), aNode('replica', { myself: true, primaryId: 'me' })],
  keys: 10,
  wasLinked: true,
};
const replicaTookOver: PeerAnswer = {
  ...replicaIsAlive,
  nodes: [aNode('me', { slots: '' }), aNode('replica', { myself: true, slots: '0-99', configEpoch: 6 })],
};

/** A gate over real files and a real FIFO; the peers and the Valkey that reads are played by the test. */
describe('the start gate', () => {
  let directory: string;
  let answers: PeerAnswer[];
  let held: PromiseWithResolvers<GateHold>;
  let gate: StartGate;
  let running: Promise<void>;
  const at = (name: string) => join(directory, name);
  const valkeyReads = async () => parseConf(await readFile(at('valkey.conf'), 'utf8'));

  async function openGate(): Promise<void> {
    gate = new StartGate({
      paths: { conf: at('valkey.conf'), data: at('data'), settings: at('settings.json') },
      askPeers: async () => answers,
      environment: readEnvironment({ ...variables, VALKEY_IMAGE: 'docker.io/valkey/valkey:8.1' }),
      memory: await MemoryFiles.open({ pod: at('pod.json'), volume: at('data/memory.json') }, () => undefined),
      log: silent,
      onAsk: () => undefined,
      onHold: (hold) => held.resolve(hold),
      onStart: () => undefined,
    });
    running = gate.run();
  }

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sidecar-gate-'));
    await mkdir(at('data'));
    await writeFile(at('settings.json'), JSON.stringify({ hash: 'h1', settings: { maxmemory: '1gb' } }));
    await ensureFifo(at('valkey.conf'));
    answers = [];
    held = Promise.withResolvers();
    await openGate();
  });
  afterEach(async () => {
    await gate.close();
    await running;
    await rm(directory, { recursive: true });
  });

  it('lets a new node start at once, and each start after it', async () => {
    expect(await valkeyReads()).toContainEqual(['maxmemory', '1gb']);
    expect(await valkeyReads()).toContainEqual(['maxmemory', '1gb']);
  });

  it('lets a primary give back at once what nobody has heard it got, and what came with it', async () => {
    await writeFile(
      at('data/nodes.conf'),
      `${wasPrimary}source 10.0.0.3:6379@16379 master - 0 0 4 connected 100-199\n`,
    );
    await mkdir(at('data/appendonlydir'));
    await writeFile(at('data/appendonlydir/appendonly.aof.manifest'), 'file');
    const own = aNode('source', { myself: true, slots: '0-199', configEpoch: 4 });
    answers = [
      { id: 'source', nodes: [own, aNode('me', { slots: '' })], keys: 10, wasLinked: false },
      { ...replicaIsAlive, nodes: [aNode('me', { slots: '' }), aNode('replica', { myself: true, primaryId: 'me' })] },
    ];
    expect(await valkeyReads()).toContainEqual(['maxmemory', '1gb']);
    const table = parseClusterNodes(await readFile(at('data/nodes.conf'), 'utf8'));
    expect(table.map(({ id, slots }) => [id, slots.toString()])).toEqual([
      ['me', ''],
      ['replica', ''],
      ['source', '0-199'],
    ]);
    expect(await readdir(at('data'))).not.toContain('appendonlydir');
  });

  it('leaves the data of a primary alone that has lost its table, whoever serves what it remembers', async () => {
    const memory = await MemoryFiles.open({ pod: at('pod.json'), volume: at('data/memory.json') }, () => undefined);
    const peer = { port: 6379, hostname: '', isReplica: false };
    const peers = ['source', 'other'].map((id) => ({ ...peer, id, ip: '10.0.0.3' }));
    await memory.update({ membership: { nodeId: 'me', role: 'primary', slots: '0-99', configEpoch: 5, peers } });
    await memory.save();
    await gate.close();
    await running;
    await openGate();
    await mkdir(at('data/appendonlydir'));
    await writeFile(at('data/appendonlydir/appendonly.aof.manifest'), 'file');
    const own = aNode('source', { myself: true, slots: '0-199', configEpoch: 4 });
    const witness = aNode('other', { myself: true, slots: '200-299', configEpoch: 3 });
    answers = [own, witness].map((self) => ({
      id: self.id,
      nodes: [self, aNode('me', { slots: '' })],
      keys: 10,
      wasLinked: false,
    }));
    await valkeyReads();
    expect(await readdir(at('data'))).toContain('appendonlydir');
  });

  it('holds an emptied primary until its replica has taken over', async () => {
    await writeFile(at('data/nodes.conf'), wasPrimary);
    answers = [replicaIsAlive];
    const started = valkeyReads();
    expect(await held.promise).toMatchObject({ reason: 'replica-may-have-more-data', previousRole: 'primary' });
    answers = [replicaTookOver];
    expect(await started).toContainEqual(['cluster-enabled', 'yes']);
  });

  describe('that finds slots half moved', () => {
    const inMidMove = wasPrimary.replace('0-99', '0-99 [98->-other] [100-<-other] [101-<-other]');
    beforeEach(() => writeFile(at('data/nodes.conf'), inMidMove));

    it('drops those that came in once another has taken over, which goes on with them', async () => {
      answers = [replicaTookOver];
      await valkeyReads();
      const kept = wasPrimary.replace('0-99', '0-99 [98->-other]');
      expect(await readFile(at('data/nodes.conf'), 'utf8')).toBe(kept);
    });

    it('keeps them for one that goes on as primary', async () => {
      answers = [{ ...replicaIsAlive, keys: 0, wasLinked: false }];
      await valkeyReads();
      expect(await readFile(at('data/nodes.conf'), 'utf8')).toBe(inMidMove);
    });
  });

  it('holds a primary whose directory was wiped, as it remembers what it was', async () => {
    await writeFile(at('data/nodes.conf'), wasPrimary);
    answers = [replicaTookOver];
    await valkeyReads();
    const memory = JSON.parse(await readFile(at('pod.json'), 'utf8')) as { marker: string };
    const membership = { nodeId: 'me', role: 'primary', slots: '0-99', configEpoch: 5 };
    const peers = [{ id: 'replica', ip: '10.0.0.2', port: 6379, hostname: '', isReplica: true }];
    await gate.close();
    await running;

    await rm(at('data'), { recursive: true });
    await mkdir(at('data'));
    await writeFile(at('pod.json'), JSON.stringify({ ...memory, membership: { ...membership, peers } }));
    answers = [replicaIsAlive];
    await openGate();
    const started = valkeyReads();
    expect(await held.promise).toMatchObject({ reason: 'replica-may-have-more-data' });
    answers = [replicaTookOver];
    expect(await started).toBeDefined();
  });

  it('lays out the table of an unborn node for one that has nothing, and anew when it was never more', async () => {
    const table = () => readFile(at('data/nodes.conf'), 'utf8');
    await valkeyReads();
    const first = await table();
    expect(isUnborn(parseClusterNodes(first))).toBe(true);
    await valkeyReads();
    expect(isUnborn(parseClusterNodes(await table()))).toBe(true);
    expect(await table()).not.toBe(first);
  });

  it('leaves the table of a node alone that has data without a place in the cluster', async () => {
    await writeFile(at('data/dump.rdb'), 'old');
    await valkeyReads();
    expect(await readdir(at('data'))).not.toContain('nodes.conf');
  });

  it('obeys an order to start as a new node, and deletes data and identity only then', async () => {
    await writeFile(at('data/nodes.conf'), wasPrimary);
    await writeFile(at('data/dump.rdb'), 'old');
    answers = [replicaIsAlive];
    const started = valkeyReads();
    await held.promise;
    expect(await readdir(at('data'))).toContain('dump.rdb');
    expect(await gate.release('new-node')).toBe(true);
    expect(await started).toBeDefined();
    expect(await readdir(at('data'))).not.toContain('dump.rdb');
    expect(isUnborn(parseClusterNodes(await readFile(at('data/nodes.conf'), 'utf8')))).toBe(true);
    expect(await gate.release('new-node')).toBe(false);
  });

  describe('that finds files of a newer Valkey', () => {
    const wasReplica = `me 10.0.0.1:6379@16379 myself,slave other 0 0 5 connected
other 10.0.0.2:6379@16379 master - 0 0 5 connected 0-99
vars currentEpoch 5 lastVoteEpoch 0
`;
    const primaryIsAlive: PeerAnswer = {
      id: 'other',
      nodes: [aNode('other', { myself: true, slots: '0-99' }), aNode('me', { primaryId: 'other' })],
      keys: 10,
      wasLinked: false,
    };
    beforeEach(async () => {
      await writeFile(at('data/nodes.conf'), wasReplica);
      await mkdir(at('data/appendonlydir'));
      await writeFile(at('data/appendonlydir/appendonly.aof.1.base.rdb'), 'VALKEY080 and so on');
      await writeFile(at('data/appendonlydir/appendonly.aof.manifest'), 'file ...');
    });

    it('deletes them for a replica whose primary lives', async () => {
      answers = [primaryIsAlive];
      await valkeyReads();
      expect((await readdir(at('data'))).toSorted()).toEqual(['memory.json', 'nodes.conf']);
    });

    it('keeps them while nobody is known to have the data', async () => {
      await valkeyReads();
      expect(await readdir(at('data'))).toContain('appendonlydir');
    });

    it('takes from the table what it would stumble over, and nothing else', async () => {
      const zoned = wasReplica.replaceAll('@16379', '@16379,host,availability-zone=zone-b,shard-id=abc');
      await writeFile(at('data/nodes.conf'), zoned);
      answers = [primaryIsAlive];
      await valkeyReads();
      const kept = await readFile(at('data/nodes.conf'), 'utf8');
      expect(kept).toBe(wasReplica.replaceAll('@16379', '@16379,host,shard-id=abc'));
    });

    it('keeps those that it can read', async () => {
      await writeFile(at('data/appendonlydir/appendonly.aof.1.base.rdb'), 'REDIS0011 and so on');
      answers = [primaryIsAlive];
      await valkeyReads();
      expect(await readdir(at('data'))).toContain('appendonlydir');
    });
  });

  it('waits for settings that can be used', async () => {
    await writeFile(at('settings.json'), '{');
    const started = valkeyReads();
    expect(await held.promise).toMatchObject({ reason: 'configuration-invalid' });
    await writeFile(at('settings.json'), JSON.stringify({ hash: 'h2', settings: { maxmemory: '2gb' } }));
    expect(await started).toContainEqual(['maxmemory', '2gb']);
  });
});
