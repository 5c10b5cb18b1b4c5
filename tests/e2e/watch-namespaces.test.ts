import { Lab } from '@valkey-operator/lab';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createRestrictedNamespace, TestCluster } from '../support/test-cluster.ts';
import { OPERATOR_NAMESPACE } from './support/operators.ts';

/** An operator for some namespaces only, with rights in no other (A4). */
const [watched, foreign] = ['watched', 'foreign'];
const lab = Lab.open(inject('lab'));
const { client } = await lab.api();
const near = new TestCluster(lab, client, watched, 'near');
const far = new TestCluster(lab, client, foreign, 'far');

const deployment = ['-n', OPERATOR_NAMESPACE, 'deployment/valkey-operator'];
const account = `system:serviceaccount:${OPERATOR_NAMESPACE}:valkey-operator`;
const kubectl = async (...args: string[]) => (await lab.kubectl(args)).stdout;
/** As deploy/operator/rbac.yaml says: the same ClusterRole, bound in each namespace instead of everywhere. */
const binding = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  metadata: { name: 'valkey-operator', namespace: watched },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'valkey-operator' },
  subjects: [{ kind: 'ServiceAccount', name: 'valkey-operator', namespace: OPERATOR_NAMESPACE }],
};
let everywhere: { metadata: { name: string; labels?: object }; roleRef: object; subjects: object[] };

async function patchArguments(patch: object): Promise<void> {
  await kubectl('patch', ...deployment, '--type=json', '-p', JSON.stringify([patch]));
  await kubectl('rollout', 'status', ...deployment, '--timeout=120s');
}

beforeAll(async () => {
  for (const namespace of [watched, foreign]) await createRestrictedNamespace(lab, namespace);
  everywhere = JSON.parse(await kubectl('get', 'clusterrolebinding', 'valkey-operator', '-o', 'json'));
  await lab.apply(JSON.stringify(binding));
  await kubectl('delete', 'clusterrolebinding', 'valkey-operator');
  const args = [`--watch-namespaces=${watched}`];
  await patchArguments({ op: 'add', path: '/spec/template/spec/containers/0/args', value: args });
});

afterAll(async () => {
  const { roleRef, subjects, metadata } = everywhere;
  const restored = {
    ...binding,
    kind: 'ClusterRoleBinding',
    metadata: { name: metadata.name, labels: metadata.labels },
  };
  await lab.apply(JSON.stringify({ ...restored, roleRef, subjects }));
  await patchArguments({ op: 'remove', path: '/spec/template/spec/containers/0/args' });
  await kubectl('delete', 'namespace', watched, foreign, '--wait=false');
});

describe('an operator of one namespace', () => {
  test('has no rights elsewhere, brings its own cluster to life, and leaves the other alone', async () => {
    const elsewhere = await lab.kubectl(['auth', 'can-i', 'list', 'pods', '-n', foreign, `--as=${account}`], {
      allowFailure: true,
    });
    expect(elsewhere.stdout.trim()).toBe('no');
    await far.apply({ replicasPerMaster: 0 });
    await near.apply({ replicasPerMaster: 0 });
    await near.waitUntilReady();
    expect((await far.get()).status).toBeUndefined();
    expect(await far.pods()).toEqual([]);
  });
});
