import { planAhead } from '@valkey-operator/core';
import { EventRecorder, KubeClient, type Leadership, type Transport } from '@valkey-operator/kube';
import type { CredentialSource, OnPeerRefused } from '@valkey-operator/rpc/operator';
import type { Caches } from './caches.ts';
import type { Authorities } from './certificates/authorities.ts';
import { RefusalBook } from './cluster/refusal-book.ts';
import { RepairBook } from './cluster/repair-book.ts';
import { ClusterController } from './cluster/cluster-controller.ts';
import { CommandPace } from './cluster/command-pace.ts';
import { createCrashPoints, loudFate, noCheckpoint } from './cluster/crash-points.ts';
import { ForesightBook } from './cluster/foresight-book.ts';
import { createSnapshotRecorder, noRecorder } from './cluster/snapshot-recorder.ts';
import { fenceWrites } from './fence-writes.ts';
import { dropLeaderLabel, takeLeaderLabel } from './leader-label.ts';
import type { Logger } from './log.ts';
import type { Metrics } from './metrics.ts';
import { createOperatorDefaults } from './operator-defaults.ts';
import type { OperatorOptions } from './options.ts';
import type { Tracing } from './tracing/orchestration-tracer.ts';
import type { heedEpochClaims } from './wire/epoch-claims.ts';
import type { ReportBook } from './wire/report-book.ts';
import { Sessions } from './wire/sessions.ts';
import type { SidecarAddress } from './wire/sidecar-link.ts';

export interface LeadContext {
  options: OperatorOptions;
  transport: Transport;
  caches: Caches;
  reports: ReportBook;
  authorities: Authorities;
  credentials: CredentialSource;
  onRefused: OnPeerRefused;
  onStale: ReturnType<typeof heedEpochClaims>;
  metrics: Metrics;
  tracing: Tracing;
  log: Logger;
  /** Where reports that arrive by the gateway go: to the term that is under way, if any. */
  attach: (term: Term | undefined) => void;
}

/** What a term as leader shows to the rest of the process. */
export interface Term {
  controller: ClusterController;
  sessions: Sessions;
}

/** One term as leader. All it writes and sends goes through the fence; all it holds ends with it. */
export async function lead(context: LeadContext, leadership: Leadership): Promise<void> {
  const { options, transport, caches, metrics, log, onStale } = context;
  const { namespace, podName, version, trustDomain, recordDir, crashPoints } = options;
  const { epoch } = leadership;
  const onCall = metrics.countCall;
  const client = new KubeClient({ transport: fenceWrites(transport, leadership), onCall });
  const warn = (error: unknown): void => log.warn({ error: String(error) }, 'api server trouble');
  log.info({ epoch }, 'leading');
  metrics.leader.set(1);
  await Promise.all([
    takeLeaderLabel(client, namespace, podName).catch(warn),
    createOperatorDefaults(client, caches, namespace).catch(warn),
  ]);

  const events = new EventRecorder({
    client,
    instance: podName,
    onDrop: ({ reason, message }, cause) => log.warn({ reason, message, cause: String(cause) }, 'event not written'),
  });
  const sessions = new Sessions({ ...sessionOptions(context, epoch), onStale });
  const foresight = new ForesightBook({ log, onForeseen: (cluster) => controller.wake(cluster) });
  const controller: ClusterController = new ClusterController({
    ...context,
    client,
    sessions,
    leadership,
    events,
    plan: (snapshot) => planAhead(snapshot, foresight.foresee),
    foresight,
    pace: new CommandPace(),
    checkpoint: crashPoints ? createCrashPoints(loudFate) : noCheckpoint,
    operator: { version, namespace, trustDomain, term: epoch, since: Date.now() },
    repairs: new RepairBook(),
    refusals: new RefusalBook(),
    recorder: recordDir === undefined ? noRecorder : createSnapshotRecorder(recordDir),
    now: Date.now,
  });
  context.attach({ controller, sessions });
  // A term that was lost leaves nothing to wait for: whatever is under way is not this process's business any more.
  leadership.signal.addEventListener('abort', () => !leadership.isValid() && sessions.close(), { once: true });
  try {
    await controller.run();
  } finally {
    context.attach(undefined);
    foresight.close();
    sessions.close();
    await events.close();
    metrics.leader.set(0);
    // Not through the fence: to step back is allowed at any time.
    await dropLeaderLabel(new KubeClient({ transport, onCall }), namespace, podName).catch(warn);
    log.info({ epoch }, 'not leading any more');
  }

  function sessionOptions({ credentials, onRefused, reports }: LeadContext, leaderEpoch: number) {
    const wake = ({ namespace: at, cluster }: SidecarAddress): void =>
      controller.wake({ namespace: at, name: cluster });
    return {
      credentials,
      trustDomain,
      leaderEpoch: BigInt(leaderEpoch),
      operatorVersion: version,
      onRefused,
      log,
      onChange: wake,
      onReport: (report: Parameters<ReportBook['receive']>[0], sidecar: SidecarAddress) => {
        if (reports.receive(report)) wake(sidecar);
      },
    };
  }
}
