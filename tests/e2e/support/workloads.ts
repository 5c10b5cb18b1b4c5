/** Small workloads that show whether a Kubernetes works, made of the images that every lab holds. */
const IMAGE = 'docker.io/valkey/valkey:9.1';

interface ServerOptions {
  /** Keep data on a volume of this size. */
  storage?: string;
  /** What the server does before it stops. */
  preStop?: string[];
  /** The node it runs on, and stays on whatever becomes of it. */
  node?: string;
}

/** One Valkey server as a StatefulSet with a Service of the same name. */
export function valkeyServer(name: string, { storage, preStop, node }: ServerOptions = {}): object[] {
  const labels = { app: name };
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name },
      spec: { selector: labels, ports: [{ port: 6379 }] },
    },
    {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name },
      spec: {
        serviceName: name,
        selector: { matchLabels: labels },
        template: {
          metadata: { labels },
          spec: {
            terminationGracePeriodSeconds: 10,
            ...(node && { nodeSelector: { 'kubernetes.io/hostname': node }, tolerations: [{ operator: 'Exists' }] }),
            securityContext: { runAsNonRoot: true, runAsUser: 999, fsGroup: 999 },
            containers: [
              {
                name: 'valkey',
                image: IMAGE,
                args: ['valkey-server', '--dir', '/data', '--protected-mode', 'no', '--appendonly', 'yes'],
                readinessProbe: { exec: { command: ['valkey-cli', 'ping'] }, periodSeconds: 1, failureThreshold: 1 },
                ...(preStop ? { lifecycle: { preStop: { exec: { command: preStop } } } } : {}),
                volumeMounts: [{ name: 'data', mountPath: '/data' }],
              },
            ],
            ...(storage ? {} : { volumes: [{ name: 'data', emptyDir: {} }] }),
          },
        },
        ...(storage
          ? {
              volumeClaimTemplates: [
                {
                  metadata: { name: 'data' },
                  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
                },
              ],
            }
          : {}),
      },
    },
  ];
}

export function toManifests(objects: object[]): string {
  return objects.map((object) => JSON.stringify(object)).join('\n---\n');
}
