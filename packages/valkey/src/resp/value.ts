import type { ValkeyError } from './valkey-error.ts';

/**
 * A RESP3 reply as a JavaScript value. Errors inside an aggregate (EXEC) stay values; a map becomes a Map because its
 * keys may be anything and must never meet a prototype; text becomes a Buffer only when the reader asks for binary.
 */
export type RespValue =
  | string
  | number
  | bigint
  | boolean
  | null
  | Buffer
  | ValkeyError
  | PushMessage
  | RespValue[]
  | Set<RespValue>
  | Map<RespValue, RespValue>;

/** Out-of-band data: pub/sub, invalidations, MONITOR. It answers no command. */
export class PushMessage {
  readonly kind: string;
  readonly data: RespValue[];

  constructor(kind: string, data: RespValue[]) {
    this.kind = kind;
    this.data = data;
  }
}

/** The bytes are not RESP, so nothing after them can be trusted. */
export class RespProtocolError extends Error {
  override readonly name = 'RespProtocolError';
}

/** A well-formed reply of another shape than the command promises. */
export class UnexpectedReplyError extends Error {
  override readonly name = 'UnexpectedReplyError';

  constructor(expected: string, got: RespValue | undefined) {
    super(`expected ${expected}, got ${got === null ? 'null' : typeof got}`);
  }
}

export function expectText(value: RespValue | undefined): string {
  if (typeof value === 'string') return value;
  throw new UnexpectedReplyError('text', value);
}

export function expectInteger(value: RespValue | undefined): number {
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value;
  throw new UnexpectedReplyError('an integer', value);
}

export function expectArray(value: RespValue | undefined): RespValue[] {
  if (Array.isArray(value)) return value;
  throw new UnexpectedReplyError('an array', value);
}

export function expectMap(value: RespValue | undefined): Map<RespValue, RespValue> {
  if (value instanceof Map) return value;
  throw new UnexpectedReplyError('a map', value);
}
