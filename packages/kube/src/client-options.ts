import type { CallOptions, CallRecord } from './api-call.ts';
import type { Random } from './backoff.ts';
import type { Clock } from './clock.ts';
import type { Transport } from './transport.ts';

export interface KubeClientOptions {
  transport: Transport;
  clock?: Clock;
  random?: Random;
  onCall?: (call: CallRecord) => void;
  /** For every call that names none. */
  timeoutMs?: number;
}

export interface ListOptions extends CallOptions {
  /** All namespaces when absent. */
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  pageSize?: number | undefined;
}

export interface WatchOptions extends CallOptions {
  namespace?: string | undefined;
  labelSelector?: string | undefined;
  fieldSelector?: string | undefined;
  resourceVersion: string;
  /** After this the server ends the watch by itself. */
  timeoutSeconds: number;
}

export interface ApplyOptions extends CallOptions {
  /**
   * Default true, as the Kubernetes documentation asks of controllers: what the operator declares is its own, and a foreign
   * value is drift to be repaired. With false a rival's field gives a FieldConflict that names it, and nothing is written:
   * apply so first where drift is to be reported.
   */
  force?: boolean;
  dryRun?: boolean;
}

export interface SubresourceOptions extends CallOptions {
  subresource?: string;
}

export interface DeleteOptions extends CallOptions {
  /** Delete only this very object and not its namesake; a mismatch throws Conflict. */
  uid?: string | undefined;
  /** Delete only if nothing has changed since; a mismatch throws Conflict. */
  resourceVersion?: string | undefined;
  propagation?: 'Background' | 'Foreground' | 'Orphan';
  gracePeriodSeconds?: number;
}

export interface JsonPatchOperation {
  op: 'add' | 'remove' | 'replace' | 'test' | 'move' | 'copy';
  path: string;
  from?: string;
  value?: unknown;
}
