import { join } from 'node:path';
import { stringify } from 'yaml';
import { createLab } from './cluster/create-lab.ts';
import { listLabs } from './cluster/lab-record.ts';
import { removeLab } from './cluster/remove-lab.ts';
import { openExistingCluster, type KubernetesCluster } from './existing-cluster.ts';
import { installCrds, installOperator } from './install-operator.ts';
import type { Progress } from './progress.ts';

/** The playground's lab has a name of its own, so that it never meets a lab of the tests. */
export const PLAYGROUND = 'playground';
const DEMO_NAMESPACE = 'default';

export interface PlaygroundOptions {
  name: string;
  nodes: number;
  valkey: string;
  /** Use the cluster of this kubeconfig context instead of making a lab. */
  context?: string;
  progress: Progress;
  signal: AbortSignal;
}

export interface Playground {
  /** Where it runs: the lab's kubeconfig, or the context that was given. */
  kubeconfig?: string;
  context?: string;
  kubectl: string;
  demo: string;
}

export async function startPlayground(options: PlaygroundOptions): Promise<Playground> {
  const { context, progress, valkey } = options;
  if (context) {
    const cluster = await progress.step(`Connect to ${context}`, () => openExistingCluster(context));
    await installCrds(cluster, progress);
    await applyDemo(cluster, valkey, progress);
    return { context, kubectl: 'kubectl', demo: 'demo' };
  }
  const { name, nodes, signal } = options;
  const wasThere = listLabs().includes(name);
  const lab = await createLab({ name, nodes, progress, signal });
  try {
    await installOperator(lab, progress, signal);
    await applyDemo(lab, valkey, progress);
    signal.throwIfAborted();
  } catch (error) {
    if (!wasThere) await progress.step('Remove the playground', () => removeLab(name));
    throw error;
  }
  return { kubeconfig: lab.kubeconfig, kubectl: join(lab.binaries, 'kubectl'), demo: 'demo' };
}

async function applyDemo(cluster: KubernetesCluster, valkey: string, progress: Progress): Promise<void> {
  await progress.step('Apply the demo cluster', async () => {
    await cluster.kubectl(['apply', '-n', DEMO_NAMESPACE, '-f', '-'], { input: stringify(demoCluster(valkey)) });
  });
}

function demoCluster(valkey: string) {
  return {
    apiVersion: 'valkey.io/v1alpha1',
    kind: 'ValkeyCluster',
    metadata: { name: 'demo' },
    spec: { valkeyImage: { name: 'docker.io/valkey/valkey', tag: valkey }, masterCount: 3, replicasPerMaster: 1 },
  };
}
