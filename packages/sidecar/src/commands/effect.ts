import { setTimeout as sleep } from 'node:timers/promises';
import { FailureReason, RefusalReason } from '@valkey-operator/rpc';
import {
  failed,
  refused,
  type CommandHandler,
  type CommandKind,
  type CommandOutcome,
} from '@valkey-operator/rpc/sidecar';
import { ValkeyError } from '@valkey-operator/valkey';
import { ConnectionError } from '@valkey-operator/valkey/connection';
import { NoValkeyError, type ValkeyWatch } from '../valkey-watch.ts';
import type { ClusterFacts } from '../valkey-facts.ts';

/** What the handlers need of a Valkey. */
export type Node = Pick<ValkeyWatch, 'call' | 'refresh' | 'view'>;

const POLL_MS = 50;

/** The cluster as Valkey sees it now. */
export async function lookAtCluster(node: Pick<Node, 'refresh'>): Promise<ClusterFacts> {
  const { cluster } = await node.refresh();
  if (!cluster) throw new ValkeyError('LOADING Valkey is loading its data');
  return cluster;
}

/** Looks until `isThere`, or until the command has run out of time; `again` may give the effect another push meanwhile. */
export async function waitForEffect(
  node: Pick<Node, 'refresh'>,
  signal: AbortSignal,
  isThere: (cluster: ClusterFacts) => boolean,
  again?: { readonly everyMs: number; readonly push: (cluster: ClusterFacts) => Promise<unknown> },
): Promise<void> {
  for (let pushedAt = Date.now(); ;) {
    const cluster = await lookAtCluster(node);
    if (isThere(cluster)) return;
    signal.throwIfAborted();
    if (again && Date.now() - pushedAt >= again.everyMs) {
      await again.push(cluster);
      pushedAt = Date.now();
    }
    await sleep(POLL_MS, undefined, { signal });
  }
}

export class InvalidCommandError extends Error {
  override readonly name = 'InvalidCommandError';
}

/** Turns what goes wrong into the outcome that tells the operator whether something may have happened. */
export function handler<K extends CommandKind>(
  run: CommandHandler<K>['run'],
  traits: Pick<CommandHandler<K>, 'concurrent'> = {},
): CommandHandler<K> {
  return {
    ...traits,
    run: async (payload, context) => {
      try {
        return await run(payload, context);
      } catch (error) {
        return describeError(error, context.signal);
      }
    },
  };
}

function describeError(error: unknown, signal: AbortSignal): CommandOutcome {
  if (error instanceof InvalidCommandError) return refused(RefusalReason.INVALID, error.message);
  if (error instanceof ValkeyError) return failed(FailureReason.VALKEY_ERROR, error.message);
  if (error instanceof NoValkeyError) return failed(FailureReason.VALKEY_UNREACHABLE, error.message);
  if (error instanceof ConnectionError) {
    return failed(FailureReason.VALKEY_UNREACHABLE, error.message, error.executed === 'no' ? true : undefined);
  }
  if (signal.aborted) return failed(FailureReason.TIMED_OUT, 'the effect did not show in time');
  throw error;
}
