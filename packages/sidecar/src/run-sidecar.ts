import { CertificatePurpose } from '@valkey-operator/rpc';
import { CommandExecutor, createSidecarServer, findGuardMismatch, recordRefusals } from '@valkey-operator/rpc/sidecar';
import { connect } from '@valkey-operator/valkey/connection';
import { readNodesConf } from './bus-addresses.ts';
import { Certificates } from './certificates.ts';
import { createHandlers } from './commands/index.ts';
import { logCommands } from './commands/observe.ts';
import { CurrentSettings } from './current-settings.ts';
import type { Environment } from './environment.ts';
import { setFirstSettings } from './first-settings.ts';
import { serveHttp } from './http.ts';
import type { Log } from './log.ts';
import { nextLookMs } from './look-interval.ts';
import { renderMetrics } from './metrics.ts';
import { MemoryFiles } from './node-memory.ts';
import { readNodeTimeoutMs } from './node-timeout.ts';
import { followLooks } from './follow-looks.ts';
import { OperatorLink } from './operator-link.ts';
import { paths, ports } from './paths.ts';
import { createProbeRoutes } from './probes.ts';
import { judgeReadiness } from './readiness.ts';
import { listOwnedDirectives } from './render-node-conf.ts';
import { Reports } from './reports.ts';
import { SettingsInEffect } from './settings-in-effect.ts';
import { ensureFifo } from './start-gate/fifo.ts';
import { askPeers } from './start-gate/peers.ts';
import { StartGate } from './start-gate/start-gate.ts';
import { Termination } from './termination.ts';
import { ValkeyWatch } from './valkey-watch.ts';

const CONNECT_TIMEOUT_MS = 2000;

/** Puts the parts together and sets them going; resolves when the sidecar has been told to end and has done so. */
export async function runSidecar(environment: Environment, log: Log, ended: AbortSignal): Promise<void> {
  const refusals = new Map<string, number>();
  const commands = new Map<string, number>();
  const onRefused = recordRefusals({
    log: ({ reason, peer, message }) => log.warn('a peer was refused', { reason, address: peer.address, message }),
    count: (reason) => increase(refusals, reason),
  });
  const memory = await MemoryFiles.open({ pod: paths.podMemory, volume: paths.volumeMemory }, (error) =>
    log.error('the memory of this node cannot be written', { error }),
  );
  const settings = await CurrentSettings.open(paths.settings, log);
  let stayConnectedUntil = 0;

  const watch = new ValkeyWatch({
    connect: (signal) =>
      connect({ address: { path: paths.socket }, timeoutMs: CONNECT_TIMEOUT_MS, clientName: 'sidecar', signal }),
    nextLookMs: (view, facts, unchangedMs) =>
      nextLookMs(view, facts, unchangedMs, reports.isWatched || Date.now() < stayConnectedUntil),
    readNodesConf: () => readNodesConf(paths.nodesConf),
    onFirstAnswer: async (connection, facts) => {
      await setFirstSettings(connection, facts, { nodeTimeoutMs: await readNodeTimeoutMs(), log });
      await settingsInEffect.noteFirstAnswer((...args) => connection.call(args, { timeoutMs: CONNECT_TIMEOUT_MS }));
    },
  });
  const settingsInEffect = new SettingsInEffect({ node: watch, memory, owned: listOwnedDirectives(environment) });
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
  const termination = new Termination({ watch, events: operator.events, graceMs: environment.graceMs, log });
  const gate = new StartGate({
    paths,
    askPeers,
    environment,
    memory,
    log,
    onAsk: () => {
      termination.reset();
      watch.noteAsked();
    },
    onHold: (hold) => watch.noteHold(hold),
    onStart: () => watch.noteStart(),
  });
  const isTerminating = () => termination.hasBegun;
  const handlers = createHandlers({
    watch,
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
    gate,
    memory,
    certificate: () => certificates,
    settings: () => settings.verdict,
    settingsInEffect,
    leaderEpoch: () => executor.leaderEpoch,
    isStopping: isTerminating,
  });
  followLooks({ watch, memory, events: operator.events, log });

  await ensureFifo(paths.conf);
  const http = await serveHttp(
    ports.http,
    createProbeRoutes({
      watch,
      termination,
      metrics: () =>
        renderMetrics({
          view: watch.view,
          facts: watch.facts,
          readiness: judgeReadiness(watch.view, watch.facts),
          heartbeats: operator.heartbeats,
          eventsWaiting: operator.events.size,
          commands,
          refusals,
          certificateExpiry: certificates.files?.leaf().notAfter,
        }),
    }),
  );
  const gated = gate.run();
  await watch.attach();

  const credentials = await Promise.race([certificates.open(paths.certificates), aborted(ended)]);
  const { trustDomain } = environment;
  const server = credentials && createSidecarServer({ credentials, trustDomain, executor, reports, onRefused });
  if (credentials) {
    await server?.listen(ports.grpc);
    operator.open(credentials);
    log.info('the sidecar is up', { phase: watch.view.phase });
  }

  await Promise.race([aborted(ended), gated]);
  if (ended.aborted) await termination.begin();
  await Promise.all([gate.close(), operator.close(), server?.close()]);
  credentials?.close();
  settings.close();
  http.close();
  http.closeAllConnections();
  watch.close();
  await gated;
}

function increase(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function aborted(signal: AbortSignal): Promise<undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  if (signal.aborted) resolve(undefined);
  signal.addEventListener('abort', () => resolve(undefined), { once: true });
  return promise;
}
