import type { OnPeerRefused, PeerRefusal, PeerRefusalReason } from './peer.ts';

export interface RefusalRecorderOptions {
  readonly log: (refusal: PeerRefusal) => void;
  readonly count: (reason: PeerRefusalReason) => void;
  readonly now?: () => number;
}

const QUIET_MS = 60 * 60_000;
const MAX_REMEMBERED = 1000;

/**
 * Counts every refusal and logs each kind once an hour and peer: a peer that tries again every second must not be able to
 * fill the log. When there are more peers than are remembered, the oldest is forgotten and may be logged again.
 */
export function recordRefusals({ log, count, now = Date.now }: RefusalRecorderOptions): OnPeerRefused {
  const loggedAt = new Map<string, number>();
  return (refusal) => {
    count(refusal.reason);
    const { address, certificate } = refusal.peer;
    const key = `${refusal.reason} ${address} ${certificate?.uris.join(' ') ?? ''}`;
    const last = loggedAt.get(key);
    if (last !== undefined && now() - last < QUIET_MS) return;
    loggedAt.delete(key);
    loggedAt.set(key, now());
    const [oldest] = loggedAt.keys();
    if (loggedAt.size > MAX_REMEMBERED && oldest !== undefined) loggedAt.delete(oldest);
    log(refusal);
  };
}
