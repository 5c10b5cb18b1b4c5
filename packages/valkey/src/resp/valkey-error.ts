/** Where a cluster node sends us instead: MOVED for good, ASK for this one command. An empty host means "the host you asked". */
export interface Redirect {
  readonly kind: 'moved' | 'ask';
  readonly slot: number;
  readonly host: string;
  readonly port: number;
}

const codePattern = /^[A-Z][A-Z0-9_]*(?=\s|$)/;
const redirectPattern = /^(MOVED|ASK) (\d+) (.*):(\d+)$/;

/** An error reply. `code` is its first word (MOVED, LOADING, NOAUTH, ...), ERR when it has none. */
export class ValkeyError extends Error {
  override readonly name = 'ValkeyError';
  readonly code: string;
  readonly redirect: Redirect | undefined;

  constructor(message: string) {
    super(message);
    this.code = codePattern.exec(message)?.[0] ?? 'ERR';
    this.redirect = parseRedirect(message);
  }
}

function parseRedirect(message: string): Redirect | undefined {
  const [, kind, slot, host, port] = redirectPattern.exec(message) ?? [];
  if (kind === undefined || host === undefined) return undefined;
  // "?" is what a node says of a peer whose preferred endpoint is not known.
  return {
    kind: kind === 'MOVED' ? 'moved' : 'ask',
    slot: Number(slot),
    host: host === '?' ? '' : host,
    port: Number(port),
  };
}
