import { type KubeClient, leases, type Live, type Pod, pods } from '@valkey-operator/kube';
import type { Lab } from '@valkey-operator/lab';

export const OPERATOR_NAMESPACE = 'valkey-system';

interface LogLine {
  readonly msg: string;
  readonly reason?: string;
  readonly [field: string]: unknown;
}

/** The processes of the operator on a lab. */
export class Operators {
  readonly #lab: Lab;
  readonly #client: KubeClient;

  constructor(lab: Lab, client: KubeClient) {
    this.#lab = lab;
    this.#client = client;
  }

  /** So many fresh processes, none of which has seen anything yet. */
  async restart(replicas: number): Promise<void> {
    const deployment = ['-n', OPERATOR_NAMESPACE, 'deployment/valkey-operator'];
    await this.#lab.kubectl(['scale', ...deployment, `--replicas=${replicas}`]);
    await this.#lab.kubectl(['rollout', 'restart', ...deployment]);
    await this.#lab.kubectl(['rollout', 'status', ...deployment, '--timeout=120s']);
  }

  async list(): Promise<Live<Pod>[]> {
    const labelSelector = 'app.kubernetes.io/name=valkey-operator';
    const { items } = await this.#client.list(pods, { namespace: OPERATOR_NAMESPACE, labelSelector });
    return items.filter(({ metadata, status }) => !metadata.deletionTimestamp && status?.podIP);
  }

  async get(name: string): Promise<Live<Pod>> {
    const found = await this.#client.get(pods, { namespace: OPERATOR_NAMESPACE, name });
    if (!found) throw new Error(`there is no pod ${name}`);
    return found;
  }

  /** The pod that holds the lease, and the epoch of its term. */
  async leader(): Promise<{ pod: string; epoch: number }> {
    const lease = await this.#client.get(leases, { namespace: OPERATOR_NAMESPACE, name: 'valkey-operator' });
    const { holderIdentity = '', leaseTransitions = 0 } = lease?.spec ?? {};
    return { pod: holderIdentity.split('_')[0] ?? '', epoch: leaseTransitions };
  }

  async log(pod: string): Promise<LogLine[]> {
    const { stdout } = await this.#lab.kubectl(['-n', OPERATOR_NAMESPACE, 'logs', pod]);
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as LogLine);
  }

  /** All samples of a metric together, or those whose labels have this in them. */
  async metric({ status }: Pod, name: string, labels = ''): Promise<number> {
    const response = await fetch(`http://${status?.podIP}:8080/metrics`);
    const samples = (await response.text())
      .split('\n')
      .filter((line) => line.startsWith(name) && line.includes(labels));
    return samples.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  }
}
