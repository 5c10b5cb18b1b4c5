import { type EffectiveClusterSpec, ports } from '@valkey-operator/api';
import { RESTRICTED } from './restricted.ts';
import { formatImage } from './template-parts.ts';

/** Of its container and of its port. */
export const EXPORTER = 'exporter';

/** Where each pod tells the metrics of its Valkey. */
export const METRICS_PATH = '/metrics';

/**
 * Tells what the Valkey of its pod says of itself, and looks at no keys. An ordinary container behind Valkey's: the kubelet
 * starts them in order, and pulls each image in its turn (ADR 26).
 */
export function exporterContainer({ image, port, resources }: EffectiveClusterSpec['exporter']) {
  const ask = { httpGet: { path: '/health', port: EXPORTER } };
  return {
    name: EXPORTER,
    image: formatImage(image),
    imagePullPolicy: image.pullPolicy,
    // Only what 1.45 knows already: it ends on an argument that it does not know.
    args: [
      `--redis.addr=redis://localhost:${ports.valkey}`,
      `--web.listen-address=:${port}`,
      `--web.telemetry-path=${METRICS_PATH}`,
      // Sooner than Prometheus gives up by default, so that a Valkey that hangs is told as redis_up 0.
      '--connection-timeout=5s',
      // Of its own process the kubelet tells.
      '--redis-only-metrics',
      '--log-format=json',
    ],
    ports: [{ name: EXPORTER, containerPort: port }],
    // Says that it is one, which the roll waits for. Both ask after the exporter alone, never after Valkey. There is no readiness
    // probe: one that is slow for a moment would take its Valkey out of the Services.
    startupProbe: { ...ask, periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 60 },
    livenessProbe: { ...ask, periodSeconds: 30, timeoutSeconds: 10, failureThreshold: 3 },
    terminationMessagePolicy: 'FallbackToLogsOnError',
    resources,
    securityContext: RESTRICTED,
  };
}
