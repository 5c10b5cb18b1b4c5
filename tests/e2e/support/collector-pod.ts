import { type KubeClient, pods } from '@valkey-operator/kube';
import type { Lab } from '@valkey-operator/lab';
import { readSpans, type ReceivedSpan } from '@valkey-operator/operator/testing/otlp';
import { OPERATOR_NAMESPACE } from './operators.ts';

const NAME = 'collector';
const PORT = 4318;

/** Runs in the pod: keeps every request to the path of traces, and shows them to whoever asks. */
const SCRIPT = `
const bodies = [];
require('node:http').createServer((request, response) => {
  if (request.method === 'GET') return response.end(JSON.stringify(bodies));
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    if (request.url === '/v1/traces') bodies.push(Buffer.concat(chunks).toString('base64'));
    response.end();
  });
}).listen(${PORT});
`;

/**
 * Where the operator's traces go during a test. A fake, in the operator's own image: a real collector would have to be built
 * from source for this alone. What arrives is read by the numbers of OpenTelemetry's own .proto files.
 */
export class CollectorPod {
  readonly #lab: Lab;
  readonly #client: KubeClient;

  constructor(lab: Lab, client: KubeClient) {
    this.#lab = lab;
    this.#client = client;
  }

  async start(): Promise<void> {
    await this.#lab.apply(JSON.stringify(manifest));
    await this.#lab.kubectl([
      '-n',
      OPERATOR_NAMESPACE,
      'wait',
      `pod/${NAME}`,
      '--for=condition=Ready',
      '--timeout=60s',
    ]);
    await this.#setEndpoint(`http://${await this.#address()}`);
  }

  async stop(): Promise<void> {
    await this.#setEndpoint(undefined);
    await this.#lab.kubectl(['-n', OPERATOR_NAMESPACE, 'delete', 'pod', NAME, '--ignore-not-found', '--wait=false']);
  }

  async spans(): Promise<ReceivedSpan[]> {
    const response = await fetch(`http://${await this.#address()}`);
    const bodies = (await response.json()) as string[];
    return bodies.flatMap((body) => readSpans(Buffer.from(body, 'base64')));
  }

  async #address(): Promise<string> {
    const pod = await this.#client.get(pods, { namespace: OPERATOR_NAMESPACE, name: NAME });
    return `${pod?.status?.podIP}:${PORT}`;
  }

  /** As a user would do it. */
  async #setEndpoint(url: string | undefined): Promise<void> {
    const deployment = ['-n', OPERATOR_NAMESPACE, 'deployment/valkey-operator'];
    const name = 'OTEL_EXPORTER_OTLP_ENDPOINT';
    await this.#lab.kubectl(['set', 'env', ...deployment, url ? `${name}=${url}` : `${name}-`]);
    await this.#lab.kubectl(['rollout', 'status', ...deployment, '--timeout=120s']);
  }
}

const manifest = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: NAME, namespace: OPERATOR_NAMESPACE },
  spec: {
    terminationGracePeriodSeconds: 0,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        name: NAME,
        image: 'ghcr.io/valkey-operator/operator:0.1.0',
        imagePullPolicy: 'IfNotPresent',
        command: ['/usr/local/bin/node', '-e', SCRIPT],
        readinessProbe: { tcpSocket: { port: PORT }, periodSeconds: 1 },
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      },
    ],
  },
};
