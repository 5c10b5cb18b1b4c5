import { annotations, type EffectiveClusterSpec, labels, managedBy, type ValkeyCluster } from '@valkey-operator/api';
import type { ChildObject } from '../snapshot.ts';
import { childMetadata } from './metadata.ts';
import { childNames } from './names.ts';
import { imagePullSecrets } from './pod-template.ts';
import { RESTRICTED } from './restricted.ts';
import type { NodeSettings } from './settings.ts';
import { formatImage } from './template-parts.ts';

/** By the label component: a pod of the cluster that is no node of it. */
export const TRIAL = 'trial';

/** What a trial is of. Another one of the same pod would say the same, or wait for the same. */
export function nameTrial({ hash }: NodeSettings, { valkeyImage }: EffectiveClusterSpec): string {
  const secrets = (valkeyImage.imagePullSecrets ?? []).map(({ name }) => name);
  return [hash, formatImage(valkeyImage), ...secrets].join(' ');
}

/** Whether Valkey lives with settings. */
export function buildTrialPod(cluster: ValkeyCluster, spec: EffectiveClusterSpec, settings: NodeSettings): ChildObject {
  return buildPod(cluster, spec, settings, {
    name: childNames(cluster.metadata.name).trial,
    command: ['valkey-server', ...startArguments(settings)],
    // Who refuses its settings has ended long before. The command only has to be there in every image of Valkey.
    readinessProbe: {
      exec: { command: ['valkey-server', '--version'] },
      initialDelaySeconds: SURVIVED_SECONDS,
      periodSeconds: 1,
      timeoutSeconds: 5,
    },
  });
}

/**
 * Whether an image is a Valkey that takes settings, and which. It is asked for one more that no Valkey knows: whoever gets as far as
 * that has taken all others, and says which version it is as it gives up, within a moment and without a shell.
 */
export function buildImageTrialPod(
  cluster: ValkeyCluster,
  spec: EffectiveClusterSpec,
  settings: NodeSettings,
): ChildObject {
  const command = ['valkey-server', ...startArguments(settings), `--${QUESTION}`, 'yes'];
  return buildPod(cluster, spec, settings, { name: childNames(cluster.metadata.name).imageTrial, command });
}

const QUESTION = 'tell-version';

/** The version, where these are the last words of a Valkey that stopped at nothing but the question. */
export function readVersionTold(lastWords = ''): string | undefined {
  return new RegExp(`FATAL CONFIG FILE ERROR \\(Version (\\S+)\\)[^]*?>>> '${QUESTION} `).exec(lastWords)?.[1];
}

interface Question {
  readonly name: string;
  readonly command: readonly string[];
  readonly readinessProbe?: object;
}

/**
 * A Valkey of its own that is started as the nodes would be: of the same image and with the same limit, but without data, sidecar
 * or network. It bears no label that anything selects the nodes by, be it a Service or a rule of the spec that keeps nodes apart:
 * whose pod it is, its annotation says.
 */
function buildPod(
  cluster: ValkeyCluster,
  spec: EffectiveClusterSpec,
  settings: NodeSettings,
  { name, ...question }: Question,
): ChildObject {
  const metadata = childMetadata({ ...cluster, spec }, name);
  const { nodeSelector, tolerations, nodeAffinity, priorityClassName } = spec;
  const memory = spec.resources.limits?.memory;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...metadata,
      labels: { [labels.cr]: metadata.name, [labels.component]: TRIAL, [labels.managedBy]: managedBy },
      annotations: { ...metadata.annotations, [annotations.applied]: nameTrial(settings, spec) },
    },
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 0,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' }, ...spec.securityContext },
      ...imagePullSecrets(spec),
      ...(nodeSelector && { nodeSelector }),
      ...(tolerations && { tolerations }),
      ...(priorityClassName && { priorityClassName }),
      ...(nodeAffinity && { affinity: { nodeAffinity } }),
      containers: [
        {
          name: 'valkey',
          image: formatImage(spec.valkeyImage),
          imagePullPolicy: spec.valkeyImage.pullPolicy,
          ...question,
          env: [{ name: 'LC_ALL', value: 'C' }],
          workingDir: '/data',
          terminationMessagePolicy: 'FallbackToLogsOnError',
          resources: { requests: { cpu: '20m', memory: '32Mi' }, ...(memory !== undefined && { limits: { memory } }) },
          securityContext: RESTRICTED,
          volumeMounts: [{ name: 'data', mountPath: '/data' }],
        },
      ],
      volumes: [{ name: 'data', emptyDir: { sizeLimit: '64Mi' } }],
    },
  };
}

const SURVIVED_SECONDS = 3;

/** Given one by one, as Valkey itself would read them from its file. */
function startArguments({ settings }: NodeSettings): string[] {
  const own = { bind: '127.0.0.1', 'cluster-enabled': 'yes' };
  return Object.entries({ ...settings, ...own }).flatMap(([name, value]) => [`--${name}`, value]);
}
