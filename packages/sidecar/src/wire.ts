import { CertificatePurpose } from '@valkey-operator/rpc';
import { CommandExecutor, createSidecarServer, findGuardMismatch, recordRefusals } from '@valkey-operator/rpc/sidecar';
import { connect } from '@valkey-operator/valkey/connection';
import { aborted } from './aborted.ts';
import { Certificates } from './certificates.ts';
import { createHandlers } from './commands/index.ts';
import { logCommands } from './commands/observe.ts';
import type { CurrentSettings } from './current-settings.ts';
import type { Environment } from './environment.ts';
import { followLooks } from './follow-looks.ts';
import { serveHttp } from './http.ts';
import type { Log } from './log.ts';
import { renderMetrics } from './metrics.ts';
import type { MemoryFiles } from './node-memory.ts';
import { readNodeTimeoutMs } from './node-timeout.ts';
import { OperatorLink } from './operator-link.ts';
import { paths, ports } from './paths.ts';
import { createProbeRoutes } from './probes.ts';
import { judgeReadiness } from './readiness.ts';
import { Reports } from './reports.ts';
import type { SettingsInEffect } from './settings-in-effect.ts';
import { SlotMover } from './slot-move/slot-mover.ts';
import { SlotSearch } from './slot-search.ts';
import type { StartGate } from './start-gate/start-gate.ts';
import { Termination } from './termination.ts';
import type { ValkeyWatch } from './valkey-watch.ts';

const CONNECT_TIMEOUT_MS = 2000;

/** What the sidecar knows of its Valkey and does with it, whether anybody asks or not. */
export interface NodeParts {
  readonly environment: Environment;
  readonly log: Log;
  readonly memory: MemoryFiles;
  readonly settings: CurrentSettings;
  readonly settingsInEffect: SettingsInEffect;
  readonly watch: ValkeyWatch;
  readonly gate: StartGate;
}

/** Everything that speaks with others: the kubelet, Prometheus and the operator. */
export interface Wire {
  /** Somebody wants to see changes at once. */
  readonly isWatched: boolean;
  /** Of the pod that ends: the way out for its Valkey. */
  readonly termination: Termination;
  close(): Promise<void>;
}

/** Resolves when the kubelet is answered. The operator is spoken with as soon as there is a certificate for it. */
export async function openWire(parts: NodeParts, ended: AbortSignal): Promise<Wire> {
  const { environment, log, memory, settings, settingsInEffect, watch, gate } = parts;
  const refusals = new Map<string, number>();
  const commands = new Map<string, number>();
  const onRefused = recordRefusals({
    log: ({ reason, peer, message }) => log.warn('a peer was refused', { reason, address: peer.address, message }),
    count: (reason) => increase(refusals, reason),
  });
  let stayConnectedUntil = 0;
  const operator = new OperatorLink({
    environment,
    log,
    report: () => reports.read(),
    onEpoch: (epoch) => executor.observeEpoch(epoch),
    onStayConnected: (forMs) => {
      stayConnectedUntil = Date.now() + forMs;
      watch.reschedule();
    },
    onRefused,
  });
  const certificates = new Certificates(environment, log, (message) =>
    operator.events.add({ case: 'certificateRefused', value: { purpose: CertificatePurpose.MTLS, message } }),
  );
  const open = (address: { path: string } | { host: string; port: number }) =>
    connect({ address, timeoutMs: CONNECT_TIMEOUT_MS, clientName: 'sidecar' });
  const mover = new SlotMover({
    openSource: () => open({ path: paths.socket }),
    openTarget: ({ ip, port }) => open({ host: ip, port }),
    onEnd: () => void watch.refresh().catch(() => undefined),
  });
  const search = new SlotSearch();
  const termination = new Termination({
    watch,
    mover,
    events: operator.events,
    settings: settingsInEffect,
    graceMs: environment.graceMs,
    log,
  });
  const isTerminating = () => termination.hasBegun;
  const handlers = createHandlers({
    watch,
    mover,
    search,
    gate,
    memory,
    settings: settingsInEffect,
    isTerminating,
    nodeTimeoutMs: readNodeTimeoutMs,
  });
  const executor = new CommandExecutor({
    handlers: logCommands(log, (outcome) => increase(commands, outcome ?? 'done'), handlers),
    checkGuard: async (guard) => findGuardMismatch(guard, await reports.read()),
  });
  const reports = new Reports({
    environment,
    watch,
    mover,
    search,
    gate,
    memory,
    certificate: () => certificates,
    settings: () => settings.verdict,
    settingsInEffect,
    leaderEpoch: () => executor.leaderEpoch,
    isStopping: isTerminating,
  });
  followLooks({ watch, events: operator.events, log, isWatched: () => reports.isWatched });

  const metrics = () =>
    renderMetrics({
      view: watch.view,
      facts: watch.facts,
      readiness: judgeReadiness(watch.view, watch.facts),
      heartbeats: operator.heartbeats,
      eventsWaiting: operator.events.size,
      commands,
      refusals,
      certificateExpiry: certificates.files?.leaf().notAfter,
    });
  const http = await serveHttp(ports.http, createProbeRoutes({ watch, termination, metrics }));
  const served = serveOperator();

  async function serveOperator() {
    const credentials = await Promise.race([certificates.open(paths.certificates), aborted(ended)]);
    if (!credentials) return undefined;
    const { trustDomain } = environment;
    const server = createSidecarServer({ credentials, trustDomain, executor, reports, onRefused });
    await server.listen(ports.grpc);
    operator.open(credentials);
    log.info('the sidecar is up', { phase: watch.view.phase });
    return { server, credentials };
  }

  return {
    get isWatched() {
      return reports.isWatched || Date.now() < stayConnectedUntil;
    },
    termination,
    async close() {
      const opened = await served;
      await Promise.all([operator.close(), opened?.server.close()]);
      opened?.credentials.close();
      http.close();
      http.closeAllConnections();
    },
  };
}

function increase(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
