import { expectArray, expectText, SLOT_COUNT } from '@valkey-operator/valkey';
import { expect, vi } from 'vitest';
import { call, type TestCluster } from '../../support/test-cluster.ts';

const POLL = { timeout: 180_000, interval: 250 };
const CHILDREN = 'sts,svc,cm,secret,sa,pdb,pvc,vcs';

/** The newest spec is in effect, and nobody has anything left to do. */
export async function whenSettled(cluster: TestCluster): Promise<void> {
  await cluster.waitFor(
    'settled',
    ({ metadata, status }) => {
      const find = (name: string) => status?.conditions?.find(({ type }) => type === name);
      const isSeen = find('Progressing')?.observedGeneration === metadata.generation;
      const isWell = find('Ready')?.status === 'True' && find('Progressing')?.reason === 'Healthy';
      return isSeen && isWell && status?.orchestration === undefined;
    },
    POLL.timeout,
  );
  // The last word may be from before it began.
  await vi.waitFor(async () => {
    const { strangers, replicas } = await describeEnd(cluster);
    expect({ strangers, differing: new Set(replicas).size }).toEqual({ strangers: 0, differing: 1 });
  }, POLL);
}

/** What must be the same, however often the operator died; who is whose primary need not. */
export async function describeEnd(cluster: TestCluster) {
  const members = await cluster.members();
  const ids = new Set(members.map(({ self }) => self.id));
  const primaries = members.filter(({ self }) => self.role === 'primary');
  const { stdout } = await cluster.lab.kubectl(['-n', cluster.namespace, 'get', CHILDREN, '-o', 'name']);
  return {
    pods: (await cluster.pods()).map(({ metadata, spec }) => [metadata.name, spec?.containers.length]),
    slots: primaries.map(({ self }) => self.slots.count).toSorted((a, b) => a - b),
    served: primaries.reduce((sum, { self }) => sum + self.slots.count, 0) === SLOT_COUNT,
    open: primaries.flatMap(({ self }) => self.openSlots),
    replicas: primaries.map(({ self }) => members.filter((each) => each.self.primaryId === self.id).length),
    strangers: members.flatMap(({ table }) => table).filter(({ id }) => !ids.has(id)).length,
    // Each as often as it is there.
    keys: (await Promise.all(primaries.map(({ ip }) => listKeys(ip)))).flat().toSorted(),
    children: stdout.trim().split('\n').toSorted(),
  };
}

async function listKeys(ip: string): Promise<string[]> {
  return expectArray(await call(ip, ['KEYS', '*'])).map((key) => expectText(key));
}
