import { setTimeout as sleep } from 'node:timers/promises';
import type { Lab } from '@valkey-operator/lab';
import { expectMap, expectText, type NodeAddress, parseClusterNodes, SLOT_COUNT } from '@valkey-operator/valkey';
import { type BareCluster, createBarePods, findPods, formBareCluster } from '../../support/bare-cluster.ts';
import { layIn } from '../../support/stock.ts';
import { call, type Member, type TestCluster } from '../../support/test-cluster.ts';

/** What the fourth of four shards gets. */
export const QUARTER = SLOT_COUNT / 4;
const POLL_MS = 10;
const PATIENCE_MS = 180_000;

/** What happened when a cluster of three shards got a fourth. */
export interface Growth {
  /** From the first slot on its way to the last one there. */
  readonly moveSeconds: number;
  /** From the change of the spec to a cluster that is as it asks. */
  readonly wholeSeconds: number;
}

/** Scales to four shards. `hasBegun` tells from the nodes there were whether slots are on their way. */
export async function growOurs(
  cluster: TestCluster,
  hasBegun: (sources: readonly Member[]) => Promise<boolean>,
): Promise<Growth> {
  const sources = await cluster.primaries();
  const start = performance.now();
  await cluster.scaleTo(4);
  await until('slots move', () => hasBegun(sources));
  const begun = performance.now();
  await until('three shards have given a quarter', async () => (await countSlots(sources)) <= SLOT_COUNT - QUARTER);
  const moved = performance.now();
  await cluster.waitForShards(4, PATIENCE_MS);
  return { moveSeconds: (moved - begun) / 1000, wholeSeconds: (performance.now() - start) / 1000 };
}

/** Slots that these nodes own, by their own word. */
export async function countSlots(sources: readonly Pick<Member, 'ip'>[]): Promise<number> {
  const counts = await Promise.all(sources.map(async ({ ip }) => (await readSelf(ip)).slots.count));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** How a node keeps its data, for others to do the same: what arrives is written to disk as well. */
export async function readPersistence({ ip }: Member): Promise<Record<string, string>> {
  const found = expectMap(await call(ip, ['CONFIG', 'GET', 'save', 'appendonly', 'appendfsync']));
  return Object.fromEntries(Array.from(found, ([name, value]) => [expectText(name), expectText(value)]));
}

/** Eight plain Valkeys with the same keys: three shards, and a fourth without slots, each with a replica. */
export async function makeBare(
  lab: Lab,
  bare: BareCluster,
  keys: number,
): Promise<{ sources: Member[]; target: Member }> {
  await createBarePods(lab, bare);
  await formBareCluster(lab, bare, 6);
  const hosts = (await findBare(lab, bare)).map(({ host }) => host);
  const [first, seventh, eighth] = [hosts[0]!, hosts[6]!, hosts[7]!];
  for (const host of [seventh, eighth]) await call(host, ['CLUSTER', 'MEET', first, '6379']);
  const knowsAll = async (host: string) => (await readTable(host)).every(({ linkConnected }) => linkConnected);
  await until('all know each other', async () => {
    const tables = await Promise.all(hosts.map(async (host) => (await readTable(host)).length));
    return tables.every((length) => length === 8) && (await knowsAll(seventh)) && (await knowsAll(eighth));
  });
  await call(eighth, ['CLUSTER', 'REPLICATE', (await readSelf(seventh)).id]);
  await until('the fourth has its replica', async () =>
    expectText(await call(eighth, ['INFO', 'replication'])).includes('master_link_status:up'),
  );
  const members = await Promise.all(hosts.map(readMember));
  const sources = members.filter(({ self }) => !self.slots.isEmpty);
  await layIn(sources, keys);
  return { sources, target: members[6]! };
}

export function findBare(lab: Lab, { namespace, name }: BareCluster): Promise<NodeAddress[]> {
  return findPods(lab, namespace, `app=${name}`);
}

export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not within ${PATIENCE_MS} ms: ${what}`);
    await sleep(POLL_MS);
  }
}

async function readTable(ip: string) {
  return parseClusterNodes(expectText(await call(ip, ['CLUSTER', 'NODES'])));
}

async function readSelf(ip: string) {
  return (await readTable(ip)).find(({ myself }) => myself)!;
}

async function readMember(ip: string): Promise<Member> {
  const table = await readTable(ip);
  return { pod: '', podUid: '', ip, kubernetesNode: '', table, self: table.find(({ myself }) => myself)! };
}
