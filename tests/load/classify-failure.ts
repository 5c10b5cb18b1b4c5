import { ValkeyError } from '@valkey-operator/valkey';
import { ConnectionError } from '@valkey-operator/valkey/connection';

export interface Failure {
  /** One word: the code of an error reply, or what became of the connection. */
  readonly kind: string;
  /** Whether the write may have been carried out all the same. */
  readonly executed: 'no' | 'maybe';
}

/** An error reply is a refusal: Valkey says it before it touches the key. */
export function classifyFailure(error: unknown): Failure {
  if (error instanceof ValkeyError) return { kind: error.code, executed: 'no' };
  if (error instanceof ConnectionError) return { kind: error.code, executed: error.executed };
  return { kind: error instanceof Error ? error.name : 'unknown', executed: 'maybe' };
}
