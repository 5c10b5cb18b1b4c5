import type { ValkeyFacts } from './valkey-facts.ts';
import type { ProcessView } from './valkey-watch.ts';

export interface Verdict {
  readonly ok: boolean;
  readonly message: string;
}

/** Whether the node serves its role. */
export function judgeReadiness(view: ProcessView, facts: ValkeyFacts | undefined): Verdict {
  if (view.phase === 'gated') return no(`waits at the start gate: ${view.hold?.message ?? ''}`);
  if (view.phase !== 'running') return no(`Valkey is ${view.phase}`);
  const { cluster, info } = facts ?? {};
  if (!cluster || !info?.replication) return no('Valkey does not answer');
  const { primary } = info.replication;
  if (primary) {
    if (primary.syncInProgress) return no('the replica is copying its primary');
    if (!view.syncedOnce) return no('the replica has not been in sync since it started');
    return primary.up ? yes('replica, link up') : no('the link to the primary is down');
  }
  if (cluster.myself.slots.isEmpty) return no('the primary owns no slots');
  return cluster.info.state === 'ok' ? yes('primary, cluster state ok') : no('the cluster state is fail');
}

/** A Valkey that is there and owes an answer for this long is dead. */
export const SILENCE_MS = 30_000;
/** A process that neither asks for its configuration nor answers, although the kubelet has it running. */
export const STRAY_MS = 60_000;

/** Whether the kubelet should leave Valkey alone. Loading, syncing, a busy script and waiting at the gate are life. */
export function judgeLiveness(view: ProcessView, now: Date): Verdict {
  const silentMs = view.unansweredSince ? now.getTime() - view.unansweredSince.getTime() : 0;
  if (silentMs > SILENCE_MS) return no(`no answer for ${Math.round(silentMs / 1000)} s`);
  const phaseMs = now.getTime() - view.since.getTime();
  const isStray = view.phase === 'absent' || view.phase === 'exited' || view.phase === 'starting';
  if (isStray && phaseMs > STRAY_MS) return no(`${view.phase} for ${Math.round(phaseMs / 1000)} s`);
  return yes(view.phase);
}

function yes(message: string): Verdict {
  return { ok: true, message };
}

function no(message: string): Verdict {
  return { ok: false, message };
}
