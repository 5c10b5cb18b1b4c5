import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ValkeyCluster } from '@valkey-operator/api';
import { stringify } from 'yaml';
import { createLab } from './cluster/create-lab.ts';
import { listLabs } from './cluster/lab-record.ts';
import { removeLab } from './cluster/remove-lab.ts';
import { LabError } from './errors.ts';
import { openExistingCluster, type KubernetesCluster } from './existing-cluster.ts';
import { installCrds, installOperator } from './install-operator.ts';
import type { Progress } from './progress.ts';
import { readManifests } from './project-files.ts';

/** The playground's lab has a name of its own, so that it never meets a lab of the tests. */
export const PLAYGROUND = 'playground';
const DEMO = 'demo';
const DEMO_NAMESPACE = 'default';
const DEMO_TIMEOUT_MS = 180_000;

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
    await progress.step('Install the operator', async () => {
      await cluster.kubectl(['apply', '--server-side', '-f', '-'], { input: readManifests('deploy/operator') });
    });
    await startDemo(cluster, valkey, options);
    return { context, kubectl: 'kubectl', demo: DEMO };
  }
  const { name, nodes, signal } = options;
  const wasThere = listLabs().includes(name);
  const lab = await createLab({ name, nodes, progress, signal });
  try {
    await installOperator(lab, progress, signal);
    await startDemo(lab, valkey, options);
  } catch (error) {
    if (!wasThere) await progress.step('Remove the playground', () => removeLab(name));
    throw error;
  }
  return { kubeconfig: lab.kubeconfig, kubectl: join(lab.binaries, 'kubectl'), demo: DEMO };
}

async function startDemo(
  cluster: KubernetesCluster,
  valkey: string,
  { progress, signal }: PlaygroundOptions,
): Promise<void> {
  await progress.step(`Start the demo cluster (Valkey ${valkey})`, async (step) => {
    await cluster.kubectl(['apply', '-n', DEMO_NAMESPACE, '-f', '-'], { input: stringify(demoCluster(valkey)) });
    const deadline = Date.now() + DEMO_TIMEOUT_MS;
    for (;;) {
      signal.throwIfAborted();
      const { ready, message } = await readDemo(cluster);
      step.note(message);
      if (ready) return;
      if (Date.now() > deadline) {
        throw new LabError(
          'Timeout',
          `the demo cluster did not become ready: ${message}`,
          'kubectl describe vc demo says more',
        );
      }
      await sleep(500);
    }
  });
}

/** The condition Ready and what it says to people. */
async function readDemo(cluster: KubernetesCluster): Promise<{ ready: boolean; message: string }> {
  const { stdout } = await cluster.kubectl(['get', '-n', DEMO_NAMESPACE, 'valkeycluster', DEMO, '-o', 'json']);
  const { status } = JSON.parse(stdout) as ValkeyCluster;
  const condition = status?.conditions?.find(({ type }) => type === 'Ready');
  return { ready: condition?.status === 'True', message: condition?.message ?? '' };
}

function demoCluster(valkey: string) {
  return {
    apiVersion: 'valkey.io/v1alpha1',
    kind: 'ValkeyCluster',
    metadata: { name: DEMO },
    spec: { valkeyImage: { name: 'docker.io/valkey/valkey', tag: valkey }, masterCount: 3, replicasPerMaster: 1 },
  };
}
