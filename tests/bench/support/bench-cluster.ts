import { pods } from '@valkey-operator/kube';
import { findPodProcesses } from '../../support/pod-processes.ts';
import { createRestrictedNamespace, TestCluster } from '../../support/test-cluster.ts';
import type { Testbed } from './testbed.ts';

const OPERATOR = { namespace: 'valkey-system', labelSelector: 'app.kubernetes.io/name=valkey-operator' };
const NODE = 'node';
const VALKEY = 'valkey-server';

/** Runs `use` on a Ready cluster of 3x1, unless the spec says else, in a namespace of its own; nothing of it stays. */
export async function withCluster<T>(
  testbed: Testbed,
  namespace: string,
  use: (cluster: TestCluster) => Promise<T>,
  spec: Parameters<TestCluster['apply']>[0] = {},
): Promise<T> {
  const lab = await testbed.lab();
  const { client } = await lab.api();
  const cluster = new TestCluster(lab, client, namespace, 'measured');
  try {
    await testbed.progress.step('Make a cluster', async () => {
      await createRestrictedNamespace(lab, namespace);
      await cluster.apply(spec);
      await cluster.waitUntilReady();
    });
    return await use(cluster);
  } finally {
    await lab.kubectl(['delete', 'namespace', namespace, '--timeout=120s']);
  }
}

/** The processes of a cluster and of its operator, by their ids. */
export async function findProcesses(cluster: TestCluster) {
  const [operator] = (await cluster.client.list(pods, OPERATOR)).items;
  const uids = (await cluster.pods()).map(({ metadata }) => metadata.uid!);
  const find = (uid: string, program: string) => {
    const [pid, ...more] = findPodProcesses(uid, program);
    if (pid === undefined || more.length > 0) throw new Error(`not one ${program} runs in pod ${uid}`);
    return pid;
  };
  return {
    operator: find(operator!.metadata.uid, NODE),
    operatorIp: operator!.status!.podIP!,
    sidecars: uids.map((uid) => find(uid, NODE)),
    valkeys: uids.map((uid) => find(uid, VALKEY)),
  };
}
