import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  createHttpTransport,
  isKubeError,
  KubeClient,
  kubeconfigAccess,
  persistentVolumeClaims,
  persistentVolumes,
  ResourceCache,
} from '@valkey-operator/kube';
import { PROVISIONER, STORAGE_CLASS } from '../cluster/addons.ts';
import { planVolumes, type VolumeAction, type VolumeClass } from './plan-volumes.ts';

/** The lab's storage: a directory of the node for every claim. One process per lab, started by `lab up`. */
const [kubeconfig, labDir] = process.argv.slice(2);
if (!kubeconfig || !labDir) throw new Error('usage: provisioner KUBECONFIG LAB-DIRECTORY');

const RETRY_MS = 1000;
const volumePath = (node: string, volume: string) => join(labDir, node, 'volumes', volume);
const client = new KubeClient({
  transport: createHttpTransport(await kubeconfigAccess({ env: { KUBECONFIG: kubeconfig } })),
});
const CLASS: VolumeClass = { storageClass: STORAGE_CLASS, provisioner: PROVISIONER, path: volumePath };
const onError = (error: unknown) => console.error(String(error));
const claims = new ResourceCache({ client, resource: persistentVolumeClaims, onError });
const volumes = new ResourceCache({ client, resource: persistentVolumes, onError });

let running = false;
let again = false;
/** Changes that arrive while one round runs are answered by one more round, never by two at once. */
async function reconcile(): Promise<void> {
  again = true;
  if (running || !claims.hasSynced || !volumes.hasSynced) return;
  running = true;
  while (again) {
    again = false;
    for (const action of planVolumes(claims.list(), volumes.list(), CLASS)) await act(action).catch(tryAgain);
  }
  running = false;
}

/** What failed is still to be done, although nothing may change that would say so. */
function tryAgain(error: unknown): void {
  onError(error);
  setTimeout(() => void reconcile(), RETRY_MS).unref();
}

async function act(action: VolumeAction): Promise<void> {
  console.log(
    JSON.stringify({
      time: new Date().toISOString(),
      ...action,
      volume: typeof action.volume === 'string' ? action.volume : action.volume.metadata.name,
    }),
  );
  switch (action.do) {
    case 'create': {
      const path = volumePath(action.node, action.volume.metadata.name);
      mkdirSync(path, { recursive: true });
      chmodSync(path, 0o777); // whoever runs in the pod may write, as on any freshly formatted volume with fsGroup
      await client.create(persistentVolumes, action.volume).catch(ignoreExisting);
      return;
    }
    case 'grow': {
      const capacity = { storage: action.storage };
      await client.mergePatch(persistentVolumes, { name: action.volume }, { spec: { capacity } });
      await client.mergePatch(
        persistentVolumeClaims,
        action.claim,
        { status: { capacity } },
        { subresource: 'status' },
      );
      return;
    }
    case 'remove':
      rmSync(volumePath(action.node, action.volume), { recursive: true, force: true });
      await client.delete(persistentVolumes, { name: action.volume });
  }
}

/** The caches lag behind what was just written, so the same decision can be made twice. */
function ignoreExisting(error: unknown): void {
  if (!isKubeError(error, 'AlreadyExists')) throw error;
}

const ended = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => ended.abort());
for (const cache of [claims, volumes]) {
  cache.subscribe(() => void reconcile());
  void cache.whenSynced().then(reconcile);
}
await Promise.all([claims.run(ended.signal), volumes.run(ended.signal)]);
process.exit(0);
