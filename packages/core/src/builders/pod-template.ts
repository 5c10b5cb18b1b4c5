import { annotations, type EffectiveClusterSpec, labels, ports, type ValkeyCluster } from '@valkey-operator/api';
import type { OperatorView } from '../snapshot.ts';
import { exporterContainer } from './exporter.ts';
import { selectorLabels } from './metadata.ts';
import { childNames } from './names.ts';
import { RESTRICTED } from './restricted.ts';
import { formatImage, formatParts, templateParts } from './template-parts.ts';

export const TOKEN_AUDIENCE = 'valkey-operator';
/** Time for a handover (well below a second when all is well), then for Valkey to write its data to disk. */
export const GRACE_SECONDS = 60;

/**
 * Valkey's container is started when this has ended, while the sidecar itself is still loading: all that Valkey needs is a
 * FIFO to wait at (ADR 0016), and the sidecar another one for the start after it. mkfifo fails when the sidecar was restarted
 * and the FIFO is there; find does not mind.
 */
const MAKE_START_GATE =
  'find /run/valkey -maxdepth 0 -exec mkfifo -m 0660 /run/valkey/valkey.conf /run/valkey/valkey.conf.next ;'.split(' ');

/** A pod of the cluster: the sidecar first and last, Valkey in between, which starts when the sidecar says so. */
export function buildPodTemplate(cluster: ValkeyCluster, spec: EffectiveClusterSpec, operator: OperatorView) {
  const { name } = cluster.metadata;
  const selector = selectorLabels(name);
  return {
    metadata: {
      labels: { ...spec.labels, ...selector, [labels.component]: 'valkey' },
      annotations: {
        ...spec.annotations,
        [annotations.cr]: name,
        [annotations.locked]: 'true',
        [annotations.template]: formatParts(templateParts(cluster, spec)),
      },
    },
    spec: {
      serviceAccountName: childNames(name).serviceAccount,
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: GRACE_SECONDS,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' }, ...spec.securityContext },
      ...imagePullSecrets(spec),
      ...scheduling(spec, selector),
      initContainers: [sidecarContainer(cluster, spec, operator)],
      containers: [valkeyContainer(spec), ...(spec.exporter.enabled ? [exporterContainer(spec.exporter)] : [])],
      volumes: volumes(name, spec),
    },
  };
}

function sidecarContainer(cluster: ValkeyCluster, spec: EffectiveClusterSpec, operator: OperatorView) {
  const { name } = cluster.metadata;
  const field = (variable: string, fieldPath: string) => ({ name: variable, valueFrom: { fieldRef: { fieldPath } } });
  return {
    name: 'sidecar',
    image: formatImage(spec.sidecarImage),
    imagePullPolicy: spec.sidecarImage.pullPolicy,
    restartPolicy: 'Always',
    env: [
      field('POD_NAME', 'metadata.name'),
      field('POD_NAMESPACE', 'metadata.namespace'),
      field('POD_UID', 'metadata.uid'),
      field('POD_IP', 'status.podIP'),
      field('NODE_NAME', 'spec.nodeName'),
      // Kubernetes gives a pod the zone of its node when it binds it (since 1.33, as a beta); empty where it does not.
      field('AVAILABILITY_ZONE', "metadata.labels['topology.kubernetes.io/zone']"),
      { name: 'VALKEY_CLUSTER', value: name },
      { name: 'VALKEY_SERVICE', value: childNames(name).headlessService },
      { name: 'OPERATOR_ADDRESS', value: `valkey-operator.${operator.namespace}.svc:${ports.operatorGrpc}` },
      { name: 'TRUST_DOMAIN', value: operator.trustDomain },
      { name: 'TERMINATION_GRACE_SECONDS', value: String(GRACE_SECONDS) },
      { name: 'VALKEY_IMAGE', value: formatImage(spec.valkeyImage) },
    ],
    ports: [
      { name: 'sidecar-grpc', containerPort: ports.sidecarGrpc },
      { name: 'sidecar-http', containerPort: ports.sidecarHttp },
    ],
    lifecycle: { postStart: { exec: { command: MAKE_START_GATE } } },
    // A frozen sidecar is replaced, which Valkey does not notice, before its silence is taken for Valkey's own (fault 29).
    livenessProbe: {
      httpGet: { path: '/healthz', port: ports.sidecarHttp },
      periodSeconds: 10,
      timeoutSeconds: 5,
      failureThreshold: 3,
      terminationGracePeriodSeconds: 5,
    },
    resources: { requests: { cpu: '20m', memory: '72Mi' }, limits: { memory: '128Mi' } },
    securityContext: RESTRICTED,
    volumeMounts: [
      { name: 'run', mountPath: '/run/valkey' },
      { name: 'data', mountPath: '/data' },
      { name: 'config', mountPath: '/etc/valkey-operator/config', readOnly: true },
      { name: 'certs', mountPath: '/etc/valkey-operator/certs', readOnly: true },
      { name: 'token', mountPath: '/var/run/secrets/valkey-operator', readOnly: true },
    ],
  };
}

function valkeyContainer(spec: EffectiveClusterSpec) {
  const ask = (path: string) => ({ httpGet: { path, port: ports.sidecarHttp } });
  return {
    name: 'valkey',
    image: formatImage(spec.valkeyImage),
    imagePullPolicy: spec.valkeyImage.pullPolicy,
    command: ['valkey-server', '/run/valkey/valkey.conf'],
    // Valkey 8 exits at start when a locale is set that the image does not have.
    env: [{ name: 'LC_ALL', value: 'C' }],
    workingDir: '/data',
    ports: [
      { name: 'valkey', containerPort: ports.valkey },
      { name: 'bus', containerPort: ports.valkeyBus },
    ],
    readinessProbe: { ...ask('/healthz/ready'), periodSeconds: 2, timeoutSeconds: 3, failureThreshold: 2 },
    // A sidecar that is frozen or restarts says nothing of Valkey: its own probe has replaced it before its silence counts.
    livenessProbe: { ...ask('/healthz/live'), periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 },
    lifecycle: { preStop: ask('/prestop') },
    // What Valkey wrote before it gave up, such as the setting that it refuses, reaches the condition this way.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    resources: spec.resources,
    securityContext: RESTRICTED,
    volumeMounts: [
      { name: 'run', mountPath: '/run/valkey' },
      { name: 'data', mountPath: '/data' },
    ],
  };
}

function volumes(name: string, spec: EffectiveClusterSpec) {
  const { configMap, sidecarSecret } = childNames(name);
  return [
    { name: 'run', emptyDir: { medium: 'Memory', sizeLimit: '16Mi' } },
    { name: 'config', configMap: { name: configMap } },
    { name: 'certs', secret: { secretName: sidecarSecret, defaultMode: 0o440 } },
    {
      name: 'token',
      projected: {
        sources: [{ serviceAccountToken: { path: 'token', audience: TOKEN_AUDIENCE, expirationSeconds: 3600 } }],
      },
    },
    ...(spec.pvc ? [] : [{ name: 'data', emptyDir: {} }]),
  ];
}

/** What the spec says; when it says nothing, members of the cluster keep apart as far as nodes and zones allow. */
function scheduling(spec: EffectiveClusterSpec, selector: Record<string, string>) {
  const { podAffinity, podAntiAffinity, nodeAffinity, topologySpreadConstraints } = spec;
  const { nodeSelector, tolerations, priorityClassName } = spec;
  const silent = !podAffinity && !podAntiAffinity && !topologySpreadConstraints;
  const spread = ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'].map((topologyKey) => ({
    maxSkew: 1,
    topologyKey,
    whenUnsatisfiable: 'ScheduleAnyway',
    labelSelector: { matchLabels: selector },
  }));
  return {
    ...(podAffinity || podAntiAffinity || nodeAffinity
      ? { affinity: withoutUndefined({ podAffinity, podAntiAffinity, nodeAffinity }) }
      : {}),
    ...withoutUndefined({
      topologySpreadConstraints: silent ? spread : topologySpreadConstraints,
      nodeSelector,
      tolerations,
      priorityClassName,
    }),
  };
}

export function imagePullSecrets({ valkeyImage, sidecarImage, exporter }: EffectiveClusterSpec) {
  const images = [valkeyImage, sidecarImage, ...(exporter.enabled ? [exporter.image] : [])];
  const names = images.flatMap((image) => image.imagePullSecrets ?? []).map(({ name }) => name);
  return names.length > 0 ? { imagePullSecrets: [...new Set(names)].map((name) => ({ name })) } : {};
}

function withoutUndefined<T extends object>(object: T): Partial<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Partial<T>;
}
