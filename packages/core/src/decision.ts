import type { OrchestrationKind, Reason } from '@valkey-operator/api';
import type { Action, NodeAction, NodeCommand, NodeGuard, Plan } from './actions.ts';
import type { NodeSettings } from './builders/settings.ts';
import type { Roll } from './roll/roll.ts';
import type { ClusterSnapshot } from './snapshot.ts';
import type { Member, Topology } from './topology.ts';

export interface PlanView {
  readonly snapshot: ClusterSnapshot;
  readonly topology: Topology;
  readonly roll: Roll;
}

/** What one planner has found. Without stages it waits: for Valkey itself, for a pod, for a person. */
export interface Decision {
  readonly reason: Reason;
  readonly message: string;
  readonly stages?: Plan['stages'];
  /** How many pods the StatefulSet shall have from now on, where that is another number than it has. */
  readonly pods?: number;
  /** Settings that every node runs with now, to be kept for the next start of each. */
  readonly settings?: NodeSettings;
  /** From now on the StatefulSet makes pods of the new template. */
  readonly beginRoll?: boolean;
  /** What it is a part of, where that is not plain healing. */
  readonly kind?: OrchestrationKind;
  /** Where in its orchestration this is. */
  readonly step?: Step;
  /** Takes a pod or a primary out of service for a moment, so it waits for a maintenance window. */
  readonly disruptive?: boolean;
  /**
   * Why it must not stop here: this much is brought to its end before a pause, a cancellation or the end of a maintenance
   * window counts, such as a slot that is half moved.
   */
  readonly committed?: string;
  /** How to take back what has been done so far, for a change that is cancelled or that failed; one step, as ever. */
  readonly undo?: Decision;
  /** It is the answer to what the cluster waits for, such as a new pod that does not start, so it does not wait for that. */
  readonly unblocks?: boolean;
  /** Somebody else has to do the rest: other changes go on meanwhile, and may be what that takes. */
  readonly yields?: boolean;
  /** It will not end by itself: the message says what a person can do. */
  readonly held?: boolean;
  /** Nothing of it goes on or has yet to come: it is told for as long as it is so, under no name that has begun. */
  readonly remark?: boolean;
  readonly events?: Plan['events'];
  readonly wakeAfterMs?: number;
}

/**
 * A named step of an orchestration, such as "Move slots", 2 of 4. A maintenance window that closes lets a step end that has
 * begun, and no other disruptive one begin: what is done pod by pod has a step for each.
 */
export interface Step {
  readonly name: string;
  readonly number: number;
  readonly of: number;
  /** How long it may take; none: as long as it does. */
  readonly timeoutMs?: number;
  /** What then: count it and go on, stop and call a person, or take the undo. Without a word, it holds. */
  readonly onTimeout?: 'retry' | 'hold' | 'rollBack';
}

/** Looks at one thing that may be wrong, and says nothing when it is not. */
export type Planner = (view: PlanView) => Decision | undefined;

/** An order to the node of a member; the guard binds it to the pod and to the node it was decided for. */
export function order(
  member: Member,
  command: NodeCommand,
  reason: Reason,
  guard: Partial<NodeGuard> = {},
): NodeAction {
  const bound = { podUid: member.pod.uid, nodeId: member.id, ...guard };
  return { type: 'CommandNode', pod: member.pod.name, guard: bound, command, reason };
}

/** Side by side: the first stages together, then the second ones. What fails in one list does not keep the others from starting. */
export function mergeStages(...lists: readonly Plan['stages'][]): Action[][] {
  const length = Math.max(0, ...lists.map((stages) => stages.length));
  return Array.from({ length }, (_, index) => lists.flatMap((stages) => stages[index] ?? []));
}

/** The stages that have something in them. */
export function stagesOf(...stages: readonly (readonly Action[])[]): Plan['stages'] {
  return stages.filter((stage) => stage.length > 0);
}
