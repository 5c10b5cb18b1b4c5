import { type annotations, builtInDefaults } from '@valkey-operator/api';
import { describe, expect, it } from 'vitest';
import { deriveTopology } from '../topology.ts';
import { bear, settle } from '../testing/settle.ts';
import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import type { SimulationOptions } from '../simulation/simulation-options.ts';
import type { NodeView } from '../snapshot.ts';
import { deriveRoll } from './roll.ts';
import { refuseVersion } from './version-step.ts';

interface Question {
  readonly tag: string;
  readonly options?: SimulationOptions;
  readonly allowDowngrade?: boolean;
  readonly memory?: NodeView['memory'];
  /** Of each pod. */
  readonly nodePort?: number;
  /** Of a person, by an annotation. */
  readonly word?: keyof typeof annotations;
}

/** What a healthy cluster that runs 9.1 says to another tag. */
function judge({ tag, options = {}, allowDowngrade = true, memory, nodePort, word }: Question): string | undefined {
  const cluster = bear(options);
  if (nodePort !== undefined) openDoors(cluster, nodePort);
  if (word) cluster.annotate(word);
  const seen = cluster.snapshot();
  const pods = seen.pods.map((pod) =>
    pod.report && memory && pod.ordinal === 4 ? { ...pod, report: { ...pod.report, memory } } : pod,
  );
  const snapshot = { ...seen, pods, spec: { ...seen.spec, allowDowngrade } };
  const view = { snapshot, topology: deriveTopology(snapshot), roll: deriveRoll(snapshot) };
  const valkeyImage = { ...snapshot.spec.valkeyImage, tag };
  return refuseVersion(view, { ...snapshot.spec, valkeyImage });
}

/** Kubernetes gives every pod a port on its node, and the nodes hear of it. */
function openDoors(cluster: SimulatedCluster, nodePort: number): void {
  cluster.kubernetesNodes = cluster.kubernetesNodes.map((node) => ({ ...node, address: '192.0.2.1' }));
  for (const { ordinal } of cluster.pods) {
    const key = `Service/${cluster.names.externalService(ordinal)}`;
    const service = cluster.children.get(key)!;
    const spec = service['spec'] as { ports: object[] };
    const ports = spec.ports.map((port) => ({ ...port, nodePort }));
    cluster.children.set(key, { ...service, spec: { ...spec, ports } });
  }
  settle(cluster);
}

const expiring = { usedBytes: 1, maxBytes: 0, keys: 9, expiringHashes: 2 };

describe('a step to another version', () => {
  it.each(['9.1', '9.2', '8.1', '8.0'])('to %s is taken', (tag) => {
    expect(judge({ tag })).toBeUndefined();
  });

  it.each(['latest', '9', 'nginx'])('to %s, which may be anything, takes a word', (tag) => {
    expect(judge({ tag })).toMatch(
      new RegExp(`"${tag}", which does not begin with a version.*allow-unknown-version=true`),
    );
    expect(judge({ tag, word: 'allowUnknownVersion' })).toBeUndefined();
  });

  it('is none where the image stays what it was, whatever its tag', () => {
    const valkeyImage = { name: 'valkey', tag: 'latest', pullPolicy: 'IfNotPresent' } as const;
    expect(judge({ tag: 'latest', options: { spec: { valkeyImage } } })).toBeUndefined();
  });

  it('to what is older than all that we run is refused', () => {
    expect(judge({ tag: '7.2' })).toMatch(/"7.2", but only Valkey 8.0 and later/);
  });

  it('back over a change of the file format takes a word', () => {
    expect(judge({ tag: '8.1', allowDowngrade: false })).toMatch(/cannot read the data files of 9.1.*allowDowngrade/);
  });

  it('back takes replicas to copy the data to', () => {
    expect(judge({ tag: '8.1', options: { replicas: 0 } })).toMatch(/without a replica.*replicasPerMaster to 1/);
  });

  it('back is refused where data is of a kind that the older one cannot hold, and says which and where', () => {
    expect(judge({ tag: '8.1', memory: expiring })).toMatch(/time to live of their own.*on demo-4.*HPERSIST/);
    expect(judge({ tag: '9.0', memory: expiring })).toBeUndefined();
  });

  it('is refused for a setting that would keep the other version from starting', () => {
    const options = { spec: { config: { 'hash-seed': 'x' } } };
    expect(judge({ tag: '8.1', options })).toMatch(/does not know spec.config\["hash-seed"\]/);
  });

  it('is refused for a port that the other version cannot announce', () => {
    const external = { enabled: true, type: 'NodePort' } as const;
    const options = { spec: { services: { ...builtInDefaults.services, external } } };
    expect(judge({ tag: '8.1', options, nodePort: 30_000 })).toMatch(
      /does not know cluster-announce-client-port, and spec.services.external.type is NodePort/,
    );
    expect(judge({ tag: '8.1', options, nodePort: 6379 })).toBeUndefined();
  });
});
