import { create } from '@bufbuild/protobuf';
import { CommandSchema, type FailureReason, type RefusalReason } from '@valkey-operator/rpc';
import type { CommandHandler, CommandKind, CommandPayload } from '@valkey-operator/rpc/sidecar';
import { aNode } from './cluster-nodes.ts';

/** What the node that carries out a command says of itself. */
export const primary = aNode('me', { myself: true, slots: '0-99' });
export const replicaOf = (primaryId: string) => aNode('me', { myself: true, primaryId });

/** How a command may end. */
export const unchanged = { case: 'done', value: { unchanged: true } };
export const failedBy = (reason: FailureReason) => ({ case: 'failure', value: { reason } });
export const refusedBy = (reason: RefusalReason) => ({ case: 'refusal', value: { reason } });

/** Carries out a command as the executor does; the Valkey is a script (see ScriptedNode). */
export async function run<K extends CommandKind>(
  handler: CommandHandler<K>,
  kind: K,
  value: object,
  signal = new AbortController().signal,
) {
  const command = create(CommandSchema, { id: 'c', payload: { case: kind, value } as never });
  return handler.run(command.payload.value as CommandPayload<K>, { command, signal });
}
