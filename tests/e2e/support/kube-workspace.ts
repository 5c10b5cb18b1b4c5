import {
  type ClusterAccess,
  type ConfigMap,
  createHttpTransport,
  KubeClient,
  loadAccess,
  namespaces,
} from '@valkey-operator/kube';
import { afterAll, beforeAll } from 'vitest';

/** A namespace of its own for a file of tests against the API server, as seen by the client of packages/kube. */
export interface Workspace {
  readonly namespace: string;
  readonly access: ClusterAccess;
  readonly client: KubeClient;
  readonly configMap: (name: string, data?: Record<string, string>) => ConfigMap;
}

export async function openWorkspace(purpose: string): Promise<Workspace> {
  const namespace = `${purpose}-${process.pid}`;
  const access = await loadAccess();
  const client = new KubeClient({ transport: createHttpTransport(access) });
  beforeAll(async () => {
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  });
  afterAll(() => client.delete(namespaces, { name: namespace }));
  const configMap = (name: string, data: Record<string, string> = {}): ConfigMap => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace },
    data,
  });
  return { namespace, access, client, configMap };
}
