import { formatMicroTime, leases, pods } from '@valkey-operator/kube';
import { Lab } from '@valkey-operator/lab';
import { findStaleLeader } from '@valkey-operator/rpc/operator';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { signalPodProcess } from '../support/pod-processes.ts';
import { createRestrictedNamespace, TestCluster } from '../support/test-cluster.ts';
import { OPERATOR_NAMESPACE, Operators } from './support/operators.ts';
import { credentialsOfOperator, greet } from './support/wire-caller.ts';

/** Who may act after the lease has passed on (faults.md 21), by itself or by hand. */
const namespace = 'operator-lease';
const lab = Lab.open(inject('lab'));
const { client } = await lab.api();
const operators = new Operators(lab, client);
const cluster = new TestCluster(lab, client, namespace, 'led');
const lease = { namespace: OPERATOR_NAMESPACE, name: 'valkey-operator' };
const POLL = { timeout: 60_000, interval: 250 };
/** The lease, one look of the standby, and what a busy machine adds. */
const TAKEOVER = { timeout: 15_000 + 3_000 + 10_000, interval: 250 };

beforeAll(async () => {
  await createRestrictedNamespace(lab, namespace);
  await operators.restart(2);
  await cluster.apply({ replicasPerMaster: 0 });
  await cluster.waitUntilReady();
});

afterAll(async () => {
  await lab.kubectl(['delete', 'namespace', namespace, '--wait=false']);
  await lab.kubectl(['-n', OPERATOR_NAMESPACE, 'scale', 'deployment/valkey-operator', '--replicas=1']);
});

describe('the lease', () => {
  test('passes on from a leader that was frozen; when it wakes it can do nothing', async () => {
    const before = await operators.leader();
    const frozen = await operators.get((await operators.leader()).pod);
    const acted = await operators.metric(frozen, 'valkey_operator_actions_total');
    signalPodProcess(frozen.metadata.uid, 'node', 'SIGSTOP');
    await expect.poll(async () => (await operators.leader()).pod, TAKEOVER).not.toBe(before.pod);
    const after = await operators.leader();
    expect(after.epoch).toBeGreaterThan(before.epoch);

    // Work that the one finds when it wakes, and that is the other's to do.
    await cluster.apply({ replicasPerMaster: 1 });
    signalPodProcess(frozen.metadata.uid, 'node', 'SIGCONT');
    const said = async () => (await operators.log(frozen.metadata.name)).map(({ msg }) => msg);
    await expect.poll(said, POLL).toContain('not leading any more');
    await cluster.waitUntilReady();
    expect(await operators.metric(frozen, 'valkey_operator_actions_total')).toBe(acted);
    expect(await operators.leader()).toEqual(after);
    const stale = await greet(cluster, before.epoch, await credentialsOfOperator(client)).catch(
      (error: unknown) => error,
    );
    expect(findStaleLeader(stale)?.highestEpoch).toBe(BigInt(after.epoch));
  });

  test('passes on within its duration when the leader is killed for good', async () => {
    const before = await operators.leader();
    const killed = await operators.get((await operators.leader()).pod);
    signalPodProcess(killed.metadata.uid, 'node', 'SIGKILL');
    await client.delete(pods, killed.metadata, { gracePeriodSeconds: 0 });
    await expect.poll(async () => (await operators.leader()).pod, TAKEOVER).not.toBe(before.pod);
    const { pod, epoch } = await operators.leader();
    expect(epoch).toBeGreaterThan(before.epoch);
    const labelled = async () =>
      (await operators.list())
        .filter(({ metadata }) => metadata.labels?.['valkey.io/leader'])
        .map((each) => each.metadata.name);
    await expect.poll(labelled, POLL).toEqual([pod]);
    await cluster.waitUntilReady();
  });

  test('that was taken by hand is taken back when it has run out, and a term above all before begins', async () => {
    const before = await operators.leader();
    const renewTime = formatMicroTime(Date.now());
    await client.mergePatch(leases, lease, { spec: { holderIdentity: 'somebody_by-hand', renewTime } });
    await expect.poll(async () => (await operators.leader()).pod, TAKEOVER).not.toBe('somebody');
    expect((await operators.leader()).epoch).toBeGreaterThan(before.epoch);
    await cluster.apply({ replicasPerMaster: 0 });
    await cluster.waitUntilReady();
  });

  test('that was set back is raised above what the sidecars have seen', async () => {
    const before = await operators.leader();
    await client.mergePatch(leases, lease, { spec: { leaseTransitions: 0 } });
    // Processes that know no better than what the Lease says now.
    await operators.restart(2);
    await cluster.apply({ replicasPerMaster: 1 });
    await cluster.waitUntilReady();
    await expect.poll(async () => (await operators.leader()).epoch, TAKEOVER).toBeGreaterThan(before.epoch);
  });
});
