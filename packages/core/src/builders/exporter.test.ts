import { builtInDefaults, type EffectiveClusterSpec, labels } from '@valkey-operator/api';
import { describe, expect, it } from 'vitest';
import { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import { buildChildren } from './children.ts';
import { buildPodTemplate } from './pod-template.ts';
import { templateParts } from './template-parts.ts';

type Exporter = EffectiveClusterSpec['exporter'];

const { cluster, operator } = new SimulatedCluster().snapshot();
const minimal: EffectiveClusterSpec = { ...builtInDefaults, management: 'Bound' };
const withExporter = (exporter: Partial<Exporter> = {}): EffectiveClusterSpec => ({
  ...minimal,
  exporter: { ...minimal.exporter, enabled: true, ...exporter },
});
const podOf = (spec: EffectiveClusterSpec) => buildPodTemplate(cluster, spec, operator).spec;
const childrenOf = (spec: EffectiveClusterSpec, template = spec) =>
  buildChildren({ cluster, spec, operator, template });
const serviceOf = (children: ReturnType<typeof childrenOf>) =>
  children.find(({ kind, metadata }) => kind === 'Service' && metadata.name === 'demo-exporter');

describe('the exporter of a pod', () => {
  it('is an ordinary container behind Valkey, which waits for nothing of it', () => {
    const { containers, initContainers } = podOf(withExporter());
    expect(containers.map(({ name }) => name)).toEqual(['valkey', 'exporter']);
    expect(initContainers.map(({ name }) => name)).toEqual(['sidecar']);
    expect(containers[1]).not.toHaveProperty('readinessProbe');
  });

  it('asks the Valkey beside it, and for no keys', () => {
    const { args } = podOf(withExporter({ port: 9200 })).containers[1] as { args: string[] };
    expect(args).toEqual(expect.arrayContaining(['--redis.addr=redis://localhost:6379', '--web.listen-address=:9200']));
    expect(args.join(' ')).not.toMatch(/keys|streams|is-cluster|script/);
  });

  it('is confined as the others are, and is made of what the spec says', () => {
    const resources = { limits: { memory: '40Mi' } };
    const image = { name: 'example.com/exporter', tag: 'v2', pullPolicy: 'Always' } as const;
    const [valkey, exporter] = podOf(withExporter({ image, resources })).containers;
    expect(exporter).toMatchObject({ image: 'example.com/exporter:v2', imagePullPolicy: 'Always', resources });
    expect(exporter?.securityContext).toEqual(valkey?.securityContext);
  });

  it('brings the pull secrets of its image along, and only while it is there', () => {
    const image = { ...minimal.exporter.image, imagePullSecrets: [{ name: 'registry' }] };
    expect(podOf(withExporter({ image }))).toMatchObject({ imagePullSecrets: [{ name: 'registry' }] });
    expect(podOf(withExporter({ image, enabled: false }))).not.toHaveProperty('imagePullSecrets');
  });
});

describe('the metrics of a cluster', () => {
  it('are found by one name, at the port of each pod, ready or not', () => {
    const service = serviceOf(childrenOf(withExporter({ port: 9200 })));
    expect(service?.metadata.labels).toMatchObject({ [labels.component]: 'exporter', [labels.cr]: 'demo' });
    expect(service?.['spec']).toMatchObject({
      clusterIP: 'None',
      publishNotReadyAddresses: true,
      ports: [{ name: 'exporter', port: 9200, targetPort: 'exporter' }],
    });
  });

  it('may be fetched through the network policy', () => {
    const policyOf = (spec: EffectiveClusterSpec) =>
      JSON.stringify(childrenOf(spec).find(({ kind }) => kind === 'NetworkPolicy')?.['spec']);
    expect(policyOf(withExporter({ port: 9200 }))).toContain('"port":9200');
    expect(policyOf(minimal)).not.toContain('9121');
  });

  it('are offered as long as pods are made with an exporter, whatever the spec asks for by now', () => {
    expect(serviceOf(childrenOf(minimal, withExporter()))).toBeDefined();
    expect(serviceOf(childrenOf(withExporter(), minimal))).toBeUndefined();
  });
});

describe('what a pod says of its exporter', () => {
  const partsOf = (spec: EffectiveClusterSpec) => templateParts(cluster, spec);

  it('is frozen: an upgrade of the operator must not change it', () => {
    expect(partsOf(withExporter())).toMatchObject({ exporter: 'f8c0c2224b', exporterImage: 'released' });
  });

  it('is nothing but that it has none while that is so', () => {
    const off = withExporter({ enabled: false, port: 9200, resources: {} });
    expect(partsOf(off)).toEqual(partsOf(minimal));
  });

  it('names the image only where it is not the one that came with the operator', () => {
    const image = { ...minimal.exporter.image, tag: 'v1.86.0' };
    expect(partsOf(withExporter({ image })).exporterImage).toMatch(/^[0-9a-f]{10}$/);
    const written = { ...cluster, spec: { ...cluster.spec, exporter: { image: minimal.exporter.image } } };
    expect(templateParts(written, withExporter()).exporterImage).toMatch(/^[0-9a-f]{10}$/);
  });

  it('does not depend on when its image is pulled, or with which credentials', () => {
    const image = { ...minimal.exporter.image, pullPolicy: 'Always' as const, imagePullSecrets: [{ name: 'x' }] };
    expect(partsOf(withExporter({ image }))).toEqual(partsOf(withExporter()));
  });
});
