import { setTimeout as sleep } from 'node:timers/promises';
import { apiVersion, type ValkeyCluster } from '@valkey-operator/api';
import {
  defineResource,
  type Event,
  events,
  type KubeClient,
  type KubeObject,
  pods,
  type Pod,
} from '@valkey-operator/kube';
import type { Lab } from '@valkey-operator/lab';
import {
  type ClusterNode,
  expectText,
  type NodeAddress,
  parseClusterNodes,
  type RespValue,
} from '@valkey-operator/valkey';
import { connect } from '@valkey-operator/valkey/connection';

export const valkeyClusters = defineResource<ValkeyCluster & KubeObject>(apiVersion, 'ValkeyCluster', 'valkeyclusters');

type Spec = Partial<ValkeyCluster['spec']>;
type Condition = NonNullable<NonNullable<ValkeyCluster['status']>['conditions']>[number];

const VALKEY_PORT = 6379;
const REPLY_MS = 2000;

/** What the ten-line sample asks for. */
export const sampleSpec: Spec = {
  valkeyImage: { name: 'docker.io/valkey/valkey', tag: '9.1' },
  masterCount: 3,
  replicasPerMaster: 1,
};

/** A pod with the Valkey node in it, as that node sees itself. */
export interface Member {
  readonly pod: string;
  readonly podUid: string;
  readonly ip: string;
  readonly kubernetesNode: string;
  readonly self: ClusterNode;
  /** Its whole table, itself included. */
  readonly table: readonly ClusterNode[];
}

/** A ValkeyCluster on a lab: asked for as a person does it, looked at from all sides. */
export class TestCluster {
  readonly lab: Lab;
  readonly client: KubeClient;
  readonly namespace: string;
  readonly name: string;

  constructor(lab: Lab, client: KubeClient, namespace: string, name: string) {
    this.lab = lab;
    this.client = client;
    this.namespace = namespace;
    this.name = name;
  }

  get ref(): { namespace: string; name: string } {
    return { namespace: this.namespace, name: this.name };
  }

  async apply(spec: Spec, annotations?: Record<string, string>): Promise<void> {
    const metadata = { ...this.ref, ...(annotations && { annotations }) };
    const object = { apiVersion, kind: 'ValkeyCluster', metadata, spec: { ...sampleSpec, ...spec } };
    await this.lab.apply(JSON.stringify(object));
  }

  /** By hand, as a person would. */
  async scaleTo(shards: number): Promise<void> {
    await this.lab.kubectl(['-n', this.namespace, 'scale', `vc/${this.name}`, `--replicas=${shards}`]);
  }

  async annotate(annotations: Record<string, string | null>): Promise<void> {
    await this.client.mergePatch(valkeyClusters, this.ref, { metadata: { annotations } });
  }

  async get(): Promise<ValkeyCluster & KubeObject> {
    const found = await this.client.get(valkeyClusters, this.ref);
    if (!found) throw new Error(`there is no ValkeyCluster ${this.namespace}/${this.name}`);
    return found;
  }

  async condition(type: string): Promise<Condition | undefined> {
    return (await this.get()).status?.conditions?.find((condition) => condition.type === type);
  }

  /** Waits until the newest spec is in effect and everything is well. */
  async waitUntilReady(withinMs = 90_000): Promise<void> {
    await this.waitFor(
      'Ready',
      ({ metadata, status }) => {
        const ready = status?.conditions?.find(({ type }) => type === 'Ready');
        return ready?.status === 'True' && ready.observedGeneration === metadata.generation;
      },
      withinMs,
    );
  }

  /** Waits until, beyond that, nothing goes on. */
  async waitUntilAtRest(withinMs = 170_000): Promise<void> {
    await this.waitFor(
      'at rest',
      ({ metadata, status }) => {
        const find = (name: string) => status?.conditions?.find(({ type }) => type === name);
        const isTold = find('Ready')?.observedGeneration === metadata.generation;
        return isTold && find('Ready')?.status === 'True' && find('Progressing')?.status === 'False';
      },
      withinMs,
    );
  }

  /** Waits until there are so many shards, all of them whole, and nothing goes on. */
  async waitForShards(count: number, withinMs = 120_000): Promise<void> {
    await this.waitFor(
      `whole with ${count} shards`,
      ({ metadata, status }) =>
        status?.observedGeneration === metadata.generation &&
        status?.masters === `${count}/${count}` &&
        status.orchestration === undefined &&
        status.conditions?.find(({ type }) => type === 'Ready')?.status === 'True',
      withinMs,
    );
  }

  /** Waits for a condition with one of these reasons, and tells what it says. */
  async waitForReason(type: string, reasons: readonly string[], withinMs = 60_000): Promise<Condition> {
    const find = ({ status }: ValkeyCluster) =>
      status?.conditions?.find((condition) => condition.type === type && reasons.includes(condition.reason));
    const cluster = await this.waitFor(
      `${type} with ${reasons.join(' or ')}`,
      (seen) => find(seen) !== undefined,
      withinMs,
    );
    return find(cluster)!;
  }

  async waitFor(
    what: string,
    holds: (cluster: ValkeyCluster & KubeObject) => boolean,
    withinMs: number,
  ): Promise<ValkeyCluster> {
    const deadline = performance.now() + withinMs;
    for (;;) {
      const cluster = await this.get();
      if (holds(cluster)) return cluster;
      if (performance.now() > deadline) {
        const said = JSON.stringify(cluster.status ?? 'no status', undefined, 1);
        throw new Error(`${this.name} did not become ${what} within ${withinMs} ms; it says ${said}`);
      }
      await sleep(200);
    }
  }

  async pods(): Promise<Pod[]> {
    const { items } = await this.client.list(pods, {
      namespace: this.namespace,
      labelSelector: `valkey.io/cr=${this.name},app.kubernetes.io/component=valkey`,
    });
    return items.toSorted((a, b) => a.metadata.name.localeCompare(b.metadata.name, 'en', { numeric: true }));
  }

  async seeds(): Promise<NodeAddress[]> {
    const ips = (await this.pods()).flatMap(({ status }) => status?.podIP ?? []);
    return ips.map((host) => ({ host, port: VALKEY_PORT }));
  }

  /** Every node that answers. */
  async members(): Promise<Member[]> {
    const asked = (await this.pods()).map(async ({ metadata, spec, status }): Promise<Member> => {
      const ip = status?.podIP ?? '';
      const table = parseClusterNodes(expectText(await call(ip, ['CLUSTER', 'NODES'])));
      const self = table.find(({ myself }) => myself)!;
      return { pod: metadata.name, podUid: metadata.uid!, ip, kubernetesNode: spec?.nodeName ?? '', self, table };
    });
    const answers = await Promise.allSettled(asked);
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  }

  async primaries(): Promise<Member[]> {
    return (await this.members()).filter(({ self }) => self.role === 'primary' && !self.slots.isEmpty);
  }

  async replicaOf({ self }: Member): Promise<Member> {
    const replica = (await this.members()).find((member) => member.self.primaryId === self.id);
    if (!replica) throw new Error(`no replica follows ${self.id}`);
    return replica;
  }

  async events(): Promise<Event[]> {
    const fieldSelector = `involvedObject.kind=ValkeyCluster,involvedObject.name=${this.name}`;
    return (await this.client.list(events, { namespace: this.namespace, fieldSelector })).items;
  }

  async eventReasons(): Promise<string[]> {
    return (await this.events()).map(({ reason }) => reason ?? '');
  }

  async delete(): Promise<void> {
    await this.client.delete(valkeyClusters, this.ref);
  }
}

/** One command to one node. */
export async function call(ip: string, args: readonly (string | Buffer)[]): Promise<RespValue> {
  using connection = await connect({ address: { host: ip, port: VALKEY_PORT }, timeoutMs: REPLY_MS });
  return await connection.call(args, { timeoutMs: REPLY_MS });
}

/** A namespace in which only pods of the "restricted" profile may run (Kubernetes' own check). */
export async function createRestrictedNamespace(lab: Lab, name: string): Promise<void> {
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await lab.apply(JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }));
}
