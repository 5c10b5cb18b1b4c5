import { setTimeout as sleep } from 'node:timers/promises';
import { ShutdownMode } from '@valkey-operator/rpc';
import { done } from '@valkey-operator/rpc/sidecar';
import { ConnectionError } from '@valkey-operator/valkey/connection';
import type { ProcessView, ValkeyWatch } from '../valkey-watch.ts';
import { handler, InvalidCommandError } from './effect.ts';

const POLL_MS = 50;

export const shutdown = (watch: ValkeyWatch) =>
  handler<'shutdown'>(async ({ mode }, { signal }) => {
    const words = wordsOf(mode);
    if (watch.view.phase === 'exited' || watch.view.phase === 'absent') return done({ unchanged: true });
    const { restarts } = watch.view;
    watch.stopRequested = true;
    await watch.connection.call(['SHUTDOWN', ...words], { signal }).catch((error: unknown) => {
      // The reply to a shutdown is the end of the connection.
      if (error instanceof ConnectionError && error.code === 'lost') return;
      watch.stopRequested = false;
      throw error;
    });
    while (!hasEnded(watch.view, restarts)) await sleep(POLL_MS, undefined, { signal });
  });

/** It may be back at the gate before anyone looks. */
function hasEnded({ phase, restarts }: ProcessView, restartsBefore: number): boolean {
  return phase === 'exited' || restarts > restartsBefore;
}

function wordsOf(mode: ShutdownMode): string[] {
  switch (mode) {
    case ShutdownMode.DEFAULT:
      return [];
    case ShutdownMode.SAVE:
      return ['SAVE'];
    case ShutdownMode.NO_SAVE:
      return ['NOSAVE'];
    default:
      throw new InvalidCommandError('shutdown needs a mode');
  }
}
