import type { Action } from '@valkey-operator/core';
import type { CommandResult } from '@valkey-operator/rpc';

/** An action in a few words, for the log. */
export function describeAction(action: Action): string {
  switch (action.type) {
    case 'ApplyChild':
      return `apply ${action.object.kind} ${action.object.metadata.name}${action.drift ? ` (${action.drift})` : ''}`;
    case 'DeleteChild':
      return `delete ${action.kind} ${action.name}`;
    case 'CommandNode':
      return `${action.command.do} on ${action.pod}`;
    case 'DeletePod':
    case 'LabelPod':
    case 'ResizePod':
      return `${action.type} ${action.pod}`;
    case 'GrowClaim':
    case 'DeleteClaim':
      return `${action.type} ${action.claim}`;
    default:
      return action.type;
  }
}

/** Why a command did not have its effect. */
export function describeOutcome(outcome: CommandResult['outcome']): string {
  if (outcome.case === 'refusal') {
    const { message, guard } = outcome.value;
    const fact = guard ? ` (${guard.fact}: expected ${guard.expected}, is ${guard.actual})` : '';
    return `refused: ${message}${fact}`;
  }
  return outcome.case === 'failure' ? `failed: ${outcome.value.message}` : 'gave an answer that is not known here';
}
