import { expectText, parseClusterNodes, parseInfo } from '@valkey-operator/valkey';
import { connect } from '@valkey-operator/valkey/connection';
import type { KnownPeer } from '../node-memory.ts';
import { MAX_WITNESSES, type PeerAnswer } from './decide.ts';

const CONNECT_TIMEOUT_MS = 400;
const ANSWER_TIMEOUT_MS = 400;

/** Asks the replicas of this node and some others what they know. Who does not answer in time is left out. */
export async function askPeers(peers: readonly KnownPeer[]): Promise<PeerAnswer[]> {
  const replicas = peers.filter(({ isReplica }) => isReplica);
  const witnesses = peers.filter(({ isReplica }) => !isReplica).slice(0, MAX_WITNESSES);
  const answers = await Promise.all([...replicas, ...witnesses].map((peer) => askPeer(peer).catch(() => undefined)));
  return answers.filter((answer) => answer !== undefined);
}

async function askPeer(peer: KnownPeer): Promise<PeerAnswer | undefined> {
  const ask = async (host: string) => {
    const answer = host === '' ? undefined : await askAt(host, peer.port).catch(() => undefined);
    // Another node may have got the address since.
    return answer?.id === peer.id ? answer : undefined;
  };
  // The name of a pod outlives its address, but looking it up may take a thread and its time.
  return (await ask(peer.ip)) ?? ask(peer.hostname);
}

async function askAt(host: string, port: number): Promise<PeerAnswer> {
  using connection = await connect({ address: { host, port }, timeoutMs: CONNECT_TIMEOUT_MS });
  const options = { timeoutMs: ANSWER_TIMEOUT_MS };
  const [table, text] = await Promise.all([
    connection.call(['CLUSTER', 'NODES'], options),
    connection.call(['INFO', 'replication', 'keyspace', 'persistence'], options),
  ]);
  const nodes = parseClusterNodes(expectText(table));
  const { replication, keyCount, persistence } = parseInfo(expectText(text));
  const link = replication?.primary;
  return {
    id: nodes.find(({ myself }) => myself)?.id ?? '',
    nodes,
    keys: persistence?.loading || persistence?.asyncLoading || link?.syncInProgress ? undefined : keyCount,
    // Valkey says -1 where the link has never been up since the process started.
    wasLinked: link !== undefined && (link.up || (link.downSinceSeconds ?? -1) >= 0),
  };
}
