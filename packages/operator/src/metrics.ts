import type { EndedOrchestration } from '@valkey-operator/core';
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
  const queued = new Histogram({
    name: 'valkey_operator_queue_seconds',
    help: 'Time a cluster waited for a worker.',
    buckets: [0.001, 0.01, 0.1, 1, 10],
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
  const orchestrations = new Histogram({
    name: 'valkey_operator_orchestration_seconds',
    help: 'Time a multi-step operation took, with all interruptions.',
    labelNames: ['kind', 'outcome'],
    buckets: [1, 5, 15, 60, 300, 1800, 7200],
    registers,
  });
  const driftRepairs = new Counter({
    name: 'valkey_operator_drift_repairs_total',
    help: 'Changes that somebody else made to something managed and that were put back.',
    labelNames: ['kind'],
    registers,
  });
  const refusals = new Counter({
    name: 'valkey_operator_peers_refused_total',
    help: 'Callers that could not prove who they are.',
    labelNames: ['reason'],
    registers,
  });
  const heard = new Counter({
    name: 'valkey_operator_heartbeats_total',
    help: 'Heartbeats and events received from sidecars.',
    labelNames: ['kind'],
    registers,
  });
  const heartbeatAge = new Histogram({
    name: 'valkey_operator_heartbeat_latency_seconds',
    help: 'Age of a report when it arrived, by the clocks of both sides.',
    buckets: [0.01, 0.1, 0.5, 1, 5, 30],
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
    driftRepairs,
    refusals,
    leader,
    countHeard: (kind: string, ageMs: number | undefined) => {
      heard.inc({ kind });
      if (ageMs !== undefined) heartbeatAge.observe(Math.max(0, ageMs) / 1000);
    },
    countCall: ({ verb, resource, code }: CallRecord) => apiCalls.inc({ verb, resource, code: String(code) }),
    countEnded: ({ kind, outcome, startedAtMs, endedAtMs }: EndedOrchestration) =>
      orchestrations.observe({ kind, outcome }, (endedAtMs - startedAtMs) / 1000),
    countRun: ({ ranMs, waitedMs, error }: RunRecord) => {
      reconciles.observe({ result: error === undefined ? 'success' : 'error' }, ranMs / 1000);
      queued.observe(waitedMs / 1000);
    },
    /** Something that is looked up when Prometheus asks. */
    watch: <L extends string>(
      name: string,
      help: string,
      labelNames: L[],
      read: () => { labels: Record<L, string>; value: number }[],
    ) => {
      const gauge: Gauge<L> = new Gauge({
        name,
        help,
        labelNames,
        registers,
        collect() {
          gauge.reset();
          for (const { labels, value } of read()) gauge.set(labels, value);
        },
      });
    },
  };
}
