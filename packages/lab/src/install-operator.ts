import { isForeignCrd } from '@valkey-operator/api';
import { parseAllDocuments, stringify } from 'yaml';
import { fillImageStore } from './cluster/image-store.ts';
import type { Lab } from './cluster/lab.ts';
import { loadImages } from './cluster/node-images.ts';
import { LabError } from './errors.ts';
import type { KubernetesCluster } from './existing-cluster.ts';
import { buildImages, type BuiltImage } from './images/index.ts';
import { apps } from './images/recipes.ts';
import type { Progress } from './progress.ts';
import { readManifests } from './project-files.ts';

export const OPERATOR_NAMESPACE = 'valkey-system';
/** Makes the pods roll when the code changed although the image's name did not. */
const DIGEST_ANNOTATION = 'valkey.io/image-digest';

/** Bring CRDs and the operator, built from this working copy, into a lab. */
export async function installOperator(lab: Lab, progress: Progress, signal?: AbortSignal): Promise<void> {
  const images = await progress.step('Build and load the operator', async (step) => {
    const only = apps.map(({ name }) => name);
    const built = await buildImages({ step, binariesDir: lab.binaries, only });
    await fillImageStore(built); // for nodes that are added later
    await loadImages(lab, built);
    return built;
  });
  signal?.throwIfAborted();
  await installCrds(lab, progress);
  await progress.step('Install the operator', async (step) => {
    await apply(lab, stampDigests(readManifests('deploy/operator'), images));
    step.note('waiting for its pod');
    await waitForRollout(lab, signal);
    step.note('');
  });
}

export async function installCrds(cluster: KubernetesCluster, progress: Progress): Promise<void> {
  await progress.step('Install the CRDs', async () => {
    await refuseForeignCrds(cluster);
    await apply(cluster, readManifests('deploy/crds'));
    await cluster.kubectl([
      'wait',
      'crd',
      '-l',
      'app.kubernetes.io/part-of=valkey-operator',
      '--for=condition=Established',
      '--timeout=30s',
    ]);
  });
}

/** Another operator owns CRDs of the same group and kind; overwriting them would hand its clusters to us. */
async function refuseForeignCrds(cluster: KubernetesCluster): Promise<void> {
  const { stdout } = await cluster.kubectl([
    'get',
    'crd',
    'valkeyclusters.valkey.io',
    '--ignore-not-found',
    '-o',
    'json',
  ]);
  if (stdout.trim() === '' || !isForeignCrd(JSON.parse(stdout))) return;
  throw new LabError(
    'AlreadyRunning',
    'this Kubernetes has a CRD valkeyclusters.valkey.io of another operator; it is left as it is',
    'remove the other operator and its CRDs first, or use another Kubernetes cluster',
  );
}

async function apply(cluster: KubernetesCluster, manifests: string): Promise<void> {
  await cluster.kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], { input: manifests });
}

async function waitForRollout(lab: Lab, signal: AbortSignal | undefined): Promise<void> {
  try {
    await lab.kubectl(['-n', OPERATOR_NAMESPACE, 'rollout', 'status', 'deployment/valkey-operator', '--timeout=60s'], {
      ...(signal && { signal }),
    });
  } catch (error) {
    signal?.throwIfAborted();
    const logs = await lab.kubectl(['-n', OPERATOR_NAMESPACE, 'logs', 'deployment/valkey-operator', '--tail=15'], {
      allowFailure: true,
    });
    throw new LabError(
      'Timeout',
      `the operator did not become ready; its last lines:\n${logs.stdout || logs.stderr}`,
      'make lab-status says more',
      error,
    );
  }
}

interface PodTemplateOwner {
  spec?: {
    template?: { metadata: { annotations?: Record<string, string> }; spec: { containers: { image: string }[] } };
  };
}

function stampDigests(manifests: string, images: readonly BuiltImage[]): string {
  return parseAllDocuments(manifests)
    .map((document) => document.toJS() as PodTemplateOwner | null)
    .filter((object) => object !== null)
    .map((object) => {
      const template = object.spec?.template;
      const image = images.find(({ ref }) => ref === template?.spec.containers[0]?.image);
      if (template && image)
        template.metadata.annotations = { ...template.metadata.annotations, [DIGEST_ANNOTATION]: image.digest };
      return stringify(object);
    })
    .join('\n---\n');
}
