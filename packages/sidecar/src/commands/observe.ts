import { RefusalReason } from '@valkey-operator/rpc';
import {
  refused,
  type CommandHandler,
  type CommandHandlers,
  type CommandKind,
  type CommandOutcome,
} from '@valkey-operator/rpc/sidecar';
import type { Log } from '../log.ts';

type AnyHandler = CommandHandler<CommandKind>;

/** The table is typed by kind; each handler stays under its own. */
function mapHandlers(
  handlers: CommandHandlers,
  change: (kind: string, inner: AnyHandler) => AnyHandler,
): CommandHandlers {
  const entries = Object.entries(handlers).map(([kind, inner]) => [kind, change(kind, inner as AnyHandler)]);
  return Object.fromEntries(entries) as CommandHandlers;
}

/** A node on its way out takes no new role: whatever is ordered of it now would be undone in a moment. */
export function refuseWhile(isTerminating: () => boolean, handlers: CommandHandlers): CommandHandlers {
  return mapHandlers(handlers, (_kind, inner) => ({
    ...inner,
    run: async (payload, context) =>
      isTerminating() ? refused(RefusalReason.TERMINATING, 'the pod is being terminated') : inner.run(payload, context),
  }));
}

/** One line per command that was begun, with the ids that lead back to the operator's side of it. */
export function logCommands(
  log: Log,
  onOutcome: (outcome: CommandOutcome['case']) => void,
  handlers: CommandHandlers,
): CommandHandlers {
  return mapHandlers(handlers, (kind, inner) => ({
    ...inner,
    run: async (payload, context) => {
      const { id, orchestration } = context.command;
      const startedAt = Date.now();
      const outcome = await inner.run(payload, context);
      const result = outcome?.case ?? 'done';
      const message = outcome && outcome.case !== 'done' ? outcome.value.message : undefined;
      onOutcome(result);
      log.info('command ended', { kind, id, orchestration, outcome: result, message, ms: Date.now() - startedAt });
      return outcome;
    },
  }));
}
