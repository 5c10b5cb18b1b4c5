import { LabError } from './errors.ts';
import { run, type RunOptions, type RunResult } from './run.ts';

/** Where CRDs and operator can be installed: a lab, or a cluster that somebody else made. */
export interface KubernetesCluster {
  kubectl(args: readonly string[], options?: RunOptions): Promise<RunResult>;
}

/** The first rung of the ladder: a cluster that already runs, chosen by its kubeconfig context. Nothing of it is ever removed. */
export async function openExistingCluster(context: string, kubectl = 'kubectl'): Promise<KubernetesCluster> {
  const cluster: KubernetesCluster = {
    kubectl: (args, options) => run(kubectl, ['--context', context, ...args], options),
  };
  try {
    await cluster.kubectl(['version', '--request-timeout=10s']);
  } catch (error) {
    if (error instanceof LabError && error.code === 'MissingTool') throw error;
    throw new LabError(
      'NotFound',
      `the cluster of context "${context}" does not answer: ${(error as Error).message}`,
      'check the name with: kubectl config get-contexts',
      error,
    );
  }
  return cluster;
}
