import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KubeClient } from '@valkey-operator/kube';
import { FakeApi, json } from '@valkey-operator/kube/testing';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { clusterRights, findMissingRights, homeRights, requireRights, type Right, workRights } from './rights.ts';

interface Role {
  kind: string;
  metadata: { name: string };
  rules: Right[];
}

function granted(kind: string, name: string): Right[] | undefined {
  const yaml = readFileSync(join(import.meta.dirname, '../../../deploy/operator/rbac.yaml'), 'utf8');
  const roles = parseAllDocuments(yaml).map((document) => document.toJS() as Role);
  return roles.find((role) => role.kind === kind && role.metadata.name === name)?.rules;
}

/** An API server that grants what `allows` says. */
function clientThat(allows: (asked: { resource: string; verb: string; namespace?: string }) => boolean) {
  const api = new FakeApi();
  api.intercept = ({ body }) => {
    const { resourceAttributes } = JSON.parse(body ?? '').spec;
    return json(201, { status: { allowed: allows(resourceAttributes) } });
  };
  return { api, client: new KubeClient({ transport: api.transport }) };
}

describe('the rights', () => {
  test.each([
    ['ClusterRole', 'valkey-operator', workRights],
    ['ClusterRole', 'valkey-operator-cluster', clusterRights],
    ['Role', 'valkey-operator', homeRights],
  ])('that %s %s grants are those that the code uses', (kind, name, rights) => {
    expect(granted(kind, name)).toEqual(rights);
  });

  test('suffice when all are granted', async () => {
    const { client } = clientThat(() => true);
    await expect(requireRights({ client, namespace: 'ops', watchNamespaces: undefined })).resolves.toBeUndefined();
  });

  test('that are missing are named one by one', async () => {
    const { client } = clientThat(
      ({ resource, verb }) => !(resource === 'pods' && verb === 'patch') && resource !== 'nodes',
    );
    await expect(requireRights({ client, namespace: 'ops', watchNamespaces: undefined })).rejects.toThrow(
      'patch pods, patch pods/resize, patch pods in ops, list nodes, watch nodes',
    );
  });

  test('are asked for in each namespace that is managed, and cluster-wide only for what is in none', async () => {
    const { client } = clientThat(({ resource, namespace }) => resource !== 'statefulsets' || namespace === 'a');
    const missing = await findMissingRights({ client, namespace: 'ops', watchNamespaces: ['a', 'b'] });
    expect(missing).toEqual(
      ['get', 'list', 'watch', 'create', 'patch', 'delete'].map((verb) => `${verb} statefulsets.apps in b`),
    );
  });
});
