import type { EffectiveClusterSpec } from '@valkey-operator/api';
import { METRICS_PATH } from '../builders/exporter.ts';
import { childNames } from '../builders/names.ts';
import { formatImage } from '../builders/template-parts.ts';
import type { PlanView } from '../decision.ts';
import type { ExporterView } from '../snapshot.ts';
import type { Finding } from './health.ts';
import { type Check, describeStuck, gather, PULL_FAILURES } from './pod-problems.ts';

/** One that ends again and again runs in between, but not for so long. */
const SETTLED_MS = 45_000;
/** As long as its startup probe tries. */
const LATE_MS = 60_000;

export function isSettled({ ready, restarts, startedAt = 0 }: ExporterView, now: number): boolean {
  return ready && (restarts === 0 || now - startedAt > SETTLED_MS);
}

/** By what pods are made of now, which may not be what the spec asks for. */
export function describeExporter({ snapshot, roll }: PlanView) {
  const { enabled, port } = (roll.begun ? roll.target : roll.good).exporter;
  if (!enabled) return {};
  const { name, namespace } = snapshot.cluster.metadata;
  const running = snapshot.pods.filter(({ exporter }) => exporter?.ready).length;
  const metricsEndpoint = `http://${childNames(name).exporterService}.${namespace}.svc:${port}${METRICS_PATH}`;
  return { exporter: { enabled, pods: `${running}/${snapshot.pods.length}`, metricsEndpoint } };
}

type Exporter = EffectiveClusterSpec['exporter'];

/** Besides its image. On the way back there is nothing to tell apart: both are what was in effect. */
export function describeExporterChange(from: Exporter, to: Exporter): string {
  if (!to.enabled) return 'no exporter';
  if (!from.enabled) return `with the exporter ${formatImage(to.image)}`;
  const isResized = JSON.stringify(from.resources) !== JSON.stringify(to.resources);
  const what = [
    ...(from.port === to.port ? [] : [`the port of its exporter, ${from.port} to ${to.port}`]),
    ...(isResized ? ['the resources of its exporter'] : []),
  ];
  return what.join(', ') || 'its exporter';
}

/** Apart from the problems of pods, for it is no reason why anything of Valkey is as it is. */
export function findExporterProblem({ snapshot }: PlanView): Finding | undefined {
  return gather(lacksExporter, snapshot);
}

/** Without the words of the kubelet, which change with every attempt: each would be an event of its own. */
const lacksExporter: Check = ({ name, exporter, report, createdAt }, { now }) => {
  if (!exporter || isSettled(exporter, now)) return undefined;
  const { ready, restarts, unreadySince = createdAt, waiting } = exporter;
  const isLate = report !== undefined && !ready && now - unreadySince > LATE_MS;
  if (restarts < 2 && !isLate && !describeStuck(waiting)) return undefined;
  const what = PULL_FAILURES.includes(waiting?.reason ?? '')
    ? `cannot pull its image: check spec.exporter.image and its pull secrets, and kubectl describe pod ${name}`
    : `does not stay up: see kubectl logs ${name} -c exporter, and correct spec.exporter`;
  return {
    reason: 'ExporterUnavailable',
    message: `Container exporter of pod ${name} ${what}. Its metrics are missing, and clients do not find the pod by a Service until it runs; its Valkey is not touched. To do without, set spec.exporter.enabled to false.`,
  };
};
