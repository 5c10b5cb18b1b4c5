/**
 * Why a command got no reply. `executed` is what a caller must know before it tries again: "no" was never sent, "maybe"
 * was handed to the socket, and the server may have carried it out.
 */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  readonly code: ConnectionErrorCode;
  readonly executed: 'no' | 'maybe';

  constructor(code: ConnectionErrorCode, executed: 'no' | 'maybe', cause?: unknown) {
    super(cause instanceof Error ? `${reasons[code]}: ${cause.message}` : reasons[code], { cause });
    this.code = code;
    this.executed = executed;
  }
}

const reasons = {
  'connect-failed': 'could not connect',
  'connect-timeout': 'no connection in time',
  lost: 'the connection was lost',
  closed: 'the connection was closed by this side',
  timeout: 'no reply in time',
  aborted: 'the caller gave up',
  protocol: 'the peer does not speak RESP',
} as const;

export type ConnectionErrorCode = keyof typeof reasons;
