import { setTimeout as sleep } from 'node:timers/promises';
import type { StatefulSet } from '@valkey-operator/kube';
import type { Lab } from '@valkey-operator/lab';
import { expectText, type NodeAddress } from '@valkey-operator/valkey';
import { call } from './test-cluster.ts';

const PORT = 6379;

export interface BareCluster {
  readonly namespace: string;
  readonly name: string;
  readonly size: number;
  readonly tag?: string;
  /** On top of what cluster mode needs. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Processor time that each asks for; none by default. */
  readonly cpu?: string;
}

/** A StatefulSet of Valkey pods in cluster mode, with nothing of ours in it: what we are compared with. */
export function bareStatefulSet({ namespace, name, size, tag = '9.1', settings = {}, cpu }: BareCluster): StatefulSet {
  const labels = { app: name };
  const args = Object.entries({
    dir: '/data',
    save: '',
    'protected-mode': 'no',
    'cluster-enabled': 'yes',
    'cluster-node-timeout': '5000',
    ...settings,
  }).flatMap(([setting, value]) => [`--${setting}`, value]);
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name, namespace },
    spec: {
      serviceName: name,
      replicas: size,
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          terminationGracePeriodSeconds: 5,
          securityContext: {
            runAsNonRoot: true,
            runAsUser: 999,
            fsGroup: 999,
            seccompProfile: { type: 'RuntimeDefault' },
          },
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: 'kubernetes.io/hostname',
              whenUnsatisfiable: 'ScheduleAnyway',
              labelSelector: { matchLabels: labels },
            },
          ],
          containers: [
            {
              name: 'valkey',
              image: `docker.io/valkey/valkey:${tag}`,
              command: ['valkey-server', ...args],
              env: [{ name: 'LC_ALL', value: 'C' }],
              ...(cpu !== undefined && { resources: { requests: { cpu } } }),
              readinessProbe: { tcpSocket: { port: PORT }, periodSeconds: 1 },
              securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
              volumeMounts: [{ name: 'data', mountPath: '/data' }],
            },
          ],
          volumes: [{ name: 'data', emptyDir: {} }],
        },
      },
    },
  };
}

/** Make it and wait until all its pods are Ready. They do not know of each other yet. */
export async function createBarePods(lab: Lab, cluster: BareCluster): Promise<void> {
  const { namespace, name, size } = cluster;
  await lab.apply(JSON.stringify(bareStatefulSet(cluster)));
  const ready = [`--for=jsonpath={.status.readyReplicas}=${size}`, '--timeout=120s', `statefulset/${name}`];
  await lab.kubectl(['-n', namespace, 'wait', ...ready]);
}

/** Three primaries and their replicas, as a person would form them; of pods beyond `members` nothing is made. */
export async function formBareCluster(lab: Lab, cluster: BareCluster, members = cluster.size): Promise<void> {
  const { namespace, name } = cluster;
  const nodes = (await findPods(lab, namespace, `app=${name}`)).slice(0, members);
  const hosts = nodes.map(({ host, port }) => `${host}:${port}`);
  const replicas = String(members / 3 - 1);
  const create = ['valkey-cli', '--cluster', 'create', ...hosts, '--cluster-replicas', replicas, '--cluster-yes'];
  await lab.kubectl(['-n', namespace, 'exec', `${name}-0`, '--', ...create]);
  // The command ends when slots are assigned, not when replicas have their data.
  const inStep = nodes.map(async ({ host }) => {
    while (!/role:master|master_link_status:up/.test(await readText(host, ['INFO', 'replication']))) await sleep(200);
    while (!(await readText(host, ['CLUSTER', 'INFO'])).includes('cluster_state:ok')) await sleep(200);
  });
  await Promise.all(inStep);
}

const readText = async (host: string, args: string[]) => expectText(await call(host, args));

/** The addresses of the pods with these labels that have one. */
export async function findPods(lab: Lab, namespace: string, selector: string): Promise<NodeAddress[]> {
  const path = 'jsonpath={.items[*].status.podIP}';
  const { stdout } = await lab.kubectl(['-n', namespace, 'get', 'pods', '-l', selector, '-o', path]);
  return stdout
    .split(' ')
    .filter(Boolean)
    .map((host) => ({ host, port: PORT }));
}
