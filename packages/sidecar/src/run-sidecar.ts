import { setTimeout as sleep } from 'node:timers/promises';
import { useSlimHeaders } from '@valkey-operator/rpc/slim-headers';
import { connect } from '@valkey-operator/valkey/connection';
import { aborted } from './aborted.ts';
import { awaitBirth } from './await-birth.ts';
import { createNodesConfReader } from './bus-addresses.ts';
import { CurrentSettings } from './current-settings.ts';
import type { Environment } from './environment.ts';
import { setFirstSettings } from './first-settings.ts';
import { keepHeapSmall } from './keep-heap-small.ts';
import type { Log } from './log.ts';
import { nextLookMs } from './look-interval.ts';
import { rememberMembership } from './membership.ts';
import { MemoryFiles } from './node-memory.ts';
import { readNodeTimeoutMs } from './node-timeout.ts';
import { paths } from './paths.ts';
import { SettingsInEffect } from './settings-in-effect.ts';
import { ensureFifo } from './start-gate/fifo.ts';
import { askPeers } from './start-gate/peers.ts';
import { StartGate } from './start-gate/start-gate.ts';
import { ValkeyWatch } from './valkey-watch.ts';
import type { Wire } from './wire.ts';

const CONNECT_TIMEOUT_MS = 2000;
/** After this time others hear of this pod, whether a Valkey has asked to start or not. */
const WIRE_BY_MS = 3000;

/**
 * Puts the parts together and sets them going; resolves when the sidecar has been told to end and has done so. First what a
 * start of Valkey needs. All that speaks with others is loaded when Valkey is on its way: it takes as long as the rest
 * together, and while many pods start at once, every Valkey would wait for it.
 */
export async function runSidecar(environment: Environment, log: Log, ended: AbortSignal): Promise<void> {
  const memory = await MemoryFiles.open({ pod: paths.podMemory, volume: paths.volumeMemory }, (error) =>
    log.error('the memory of this node cannot be written', { error }),
  );
  const settings = await CurrentSettings.open(paths.settings, log);
  let wire: Wire | undefined = undefined;
  const answered = Promise.withResolvers<void>();

  const watch = new ValkeyWatch({
    connect: (signal) =>
      connect({ address: { path: paths.socket }, timeoutMs: CONNECT_TIMEOUT_MS, clientName: 'sidecar', signal }),
    nextLookMs: (view, facts, unchangedMs) => nextLookMs(view, facts, unchangedMs, wire?.isWatched ?? false),
    readNodesConf: createNodesConfReader(paths.nodesConf),
    onFirstAnswer: async (connection, facts) => {
      await setFirstSettings(connection, facts, { nodeTimeoutMs: await readNodeTimeoutMs(), log });
      await settingsInEffect.noteFirstAnswer((...args) => connection.call(args, { timeoutMs: CONNECT_TIMEOUT_MS }));
    },
  });
  const settingsInEffect = new SettingsInEffect({ node: watch, memory });
  const gate = new StartGate({
    paths,
    askPeers,
    environment,
    memory,
    log,
    onAsk: () => {
      wire?.termination.reset();
      watch.noteAsked();
    },
    onHold: (hold) => {
      watch.noteHold(hold);
      answered.resolve();
    },
    onStart: () => {
      watch.noteStart();
      answered.resolve();
    },
  });
  rememberMembership(watch, memory);
  awaitBirth(watch, log);

  watch.subscribe(keepHeapSmall());

  await ensureFifo(paths.conf);
  const gated = gate.run();
  await watch.attach();
  if (watch.view.phase === 'absent') {
    const longEnough = sleep(WIRE_BY_MS, undefined, { ref: false });
    await Promise.race([answered.promise, longEnough, aborted(ended), gated]);
  }
  useSlimHeaders();
  const { openWire } = await import('./wire.ts');
  wire = await openWire({ environment, log, memory, settings, settingsInEffect, watch, gate }, ended);
  await Promise.race([aborted(ended), gated]);
  if (ended.aborted) await wire.termination.begin();
  await Promise.all([gate.close(), wire.close()]);
  settings.close();
  watch.close();
  await gated;
}
