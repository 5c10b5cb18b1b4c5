import { create, type MessageInitShape } from '@bufbuild/protobuf';
import {
  apiVersion,
  builtInDefaults,
  type EffectiveClusterSpec,
  resolveEffectiveSpec,
  type ValkeyCluster,
} from '@valkey-operator/api';
import type { KubeObject, Leadership, Live, Pod } from '@valkey-operator/kube';
import { type NodeReport, NodeReportSchema } from '@valkey-operator/rpc';
import { createLogger } from '../log.ts';

export const namespace = 'apps';
export const CLUSTER_PATH = `/apis/${apiVersion}/namespaces/${namespace}/valkeyclusters/demo`;

/** A ValkeyCluster as the API server would give it. */
export function aCluster(overrides: Partial<ValkeyCluster['metadata']> = {}): Live<ValkeyCluster & KubeObject> {
  return {
    apiVersion,
    kind: 'ValkeyCluster',
    metadata: {
      name: 'demo',
      namespace,
      uid: 'cluster-uid',
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: '2026-11-15T00:00:00Z',
      ...overrides,
    },
    spec: { management: 'Bound' },
  };
}

/** What is put into effect for a cluster that says nothing. */
export const effectiveSpec: EffectiveClusterSpec = resolveEffectiveSpec(builtInDefaults, {}, {}, aCluster().spec);

export function aPod(
  name: string,
  overrides: Pick<Partial<Pod>, 'status' | 'spec'> & { uid?: string } = {},
): Live<Pod> {
  const { uid = `${name}-uid`, ...rest } = overrides;
  const labels = { 'valkey.io/cr': 'demo' };
  const metadata = { name, namespace, uid, resourceVersion: '1', labels, creationTimestamp: '2026-11-15T00:00:00Z' };
  return { apiVersion: 'v1', kind: 'Pod', metadata, ...rest };
}

type ReportInit = Exclude<MessageInitShape<typeof NodeReportSchema>, NodeReport>;

export function aReport(overrides: ReportInit = {}): NodeReport {
  const pod = { namespace, cluster: 'demo', name: 'demo-0', uid: 'demo-0-uid', ip: '10.0.0.1' };
  return create(NodeReportSchema, { pod, bootId: 'boot-1', sequence: 1n, ...overrides });
}

/** A term that a test can end. */
export class FakeLeadership implements Leadership {
  readonly epoch = 7;
  readonly #end = new AbortController();
  valid = true;

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  isValid(): boolean {
    return this.valid;
  }

  stop(): void {
    this.#end.abort();
  }

  lose(): void {
    this.valid = false;
    this.#end.abort();
  }
}

export const quietLog = createLogger('silent');

/** Lets everything run that waits for nothing but other code. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
