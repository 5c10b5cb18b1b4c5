import type { CallRecord, RunRecord } from '@valkey-operator/kube';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

export type Metrics = ReturnType<typeof createMetrics>;

/** What the operator tells Prometheus (G1). */
export function createMetrics() {
  const registry = new Registry();
  const registers = [registry];
  const reconciles = new Histogram({
    name: 'valkey_operator_reconcile_seconds',
    help: 'Time one look at a cluster took, with everything that followed from it.',
    labelNames: ['result'],
    buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
    registers,
  });
  const apiCalls = new Counter({
    name: 'valkey_operator_api_calls_total',
    help: 'Requests to the Kubernetes API server.',
    labelNames: ['verb', 'resource', 'code'],
    registers,
  });
  const actions = new Counter({
    name: 'valkey_operator_actions_total',
    help: 'Actions carried out.',
    labelNames: ['action', 'outcome'],
    registers,
  });
  const refusals = new Counter({
    name: 'valkey_operator_peers_refused_total',
    help: 'Callers that could not prove who they are.',
    labelNames: ['reason'],
    registers,
  });
  const heartbeats = new Counter({
    name: 'valkey_operator_heartbeats_total',
    help: 'Heartbeats and events received from sidecars.',
    labelNames: ['kind'],
    registers,
  });
  const leader = new Gauge({
    name: 'valkey_operator_leader',
    help: '1 while this process is the leader.',
    registers,
  });
  return {
    registry,
    actions,
    refusals,
    heartbeats,
    leader,
    countCall: ({ verb, resource, code }: CallRecord) => apiCalls.inc({ verb, resource, code: String(code) }),
    countRun: ({ ranMs, error }: RunRecord) =>
      reconciles.observe({ result: error === undefined ? 'success' : 'error' }, ranMs / 1000),
    /** Things that are asked for when somebody looks. */
    observe: (name: string, help: string, read: () => number) =>
      new Gauge({
        name,
        help,
        registers,
        collect() {
          this.set(read());
        },
      }),
  };
}
