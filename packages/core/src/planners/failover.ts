import { annotations } from '@valkey-operator/api';
import { type Decision, order, type PlanView } from '../decision.ts';
import { chooseSuccessor, findLost, hasQuorum, isForced, nameOf } from '../quorum.ts';
import { conditionAge } from '../status/conditions.ts';
import { listNames } from '../status/list-names.ts';
import { isPromotable, type Member, offsetOf, type SilentNode } from '../topology.ts';

/** Longer than any election: a replica that was away for long does not dare to stand, and is then told to. */
const ELECTION_MS = 30_000;

/** A primary is lost and a replica has its data. Valkey elects it by itself; the operator steps in where it cannot. */
export function planFailover(view: PlanView): Decision | undefined {
  const lost = findLost(view.topology).map((node) => ({ node, successor: chooseSuccessor(view, node) }));
  const replaceable = lost.flatMap(({ node, successor }) => (successor ? [{ node, successor }] : []));
  const [first] = replaceable;
  if (lost.length === 0) return undefined;
  if (!hasQuorum(view.topology))
    return takeOver(
      view,
      lost.map(({ node }) => node),
      first,
    );
  if (first === undefined) return undefined;

  // Not in sync since its start: only here because a person said so, and it would win no election.
  const unfit = replaceable.find(({ successor }) => !isPromotable(successor));
  if (unfit) return promote(unfit.successor, unfit.node, 'takeover');
  const isOverdue = conditionAge(view.snapshot, 'SlotsAssigned', 'False') > ELECTION_MS;
  const overdue = replaceable.find(({ node }) => isOverdue && node.agreedFailed);
  if (overdue) return promote(overdue.successor, overdue.node, 'force');
  return {
    reason: 'FailedOver',
    message: `Primary ${nameOf(first.node)} is lost; the cluster elects its replica ${first.successor.pod.name}.`,
  };
}

/**
 * The guard is what makes this safe whatever has happened since: still a replica of that primary, still cut off from it,
 * and with at least the data for which it was chosen. The link to a primary that hangs stays up for a minute: where a person
 * has said that it is gone, that does not count.
 */
export function promote(replica: Member, lost: SilentNode, mode: 'force' | 'takeover', byWord = false): Decision {
  const action = order(replica, { do: 'failover', mode }, 'FailedOver', {
    role: 'replica',
    primaryId: lost.id,
    ...(byWord ? {} : { linkUp: false }),
    minReplicationOffset: offsetOf(replica),
  });
  const message = `Primary ${nameOf(lost)} is lost and ${replica.pod.name} takes over its slots ${lost.slots.toString()}.`;
  return { reason: 'FailedOver', message, stages: [[action]], events: [{ reason: 'FailedOver', message }] };
}

/** No vote is possible. One at a time, and only when no missing primary can still serve: else two would own the same slots. */
function takeOver(
  view: PlanView,
  lost: readonly SilentNode[],
  first: { node: SilentNode; successor: Member } | undefined,
) {
  const { shards } = view.topology;
  const isSafe = lost.every(({ fenced }) => fenced);
  if (isSafe || isForced(view)) return first && promote(first.successor, first.node, 'takeover', isForced(view));
  const names = listNames(lost.map(nameOf));
  return {
    reason: 'QuorumLost',
    message: `${lost.length} of ${lost.length + shards.length} primaries are gone (${names}), so the others cannot elect replacements. The cluster goes on by itself when their pods return. If they never will, set the annotation ${annotations.forceTakeover} on the ValkeyCluster: replicas take over, and what had not reached them is lost.`,
    held: true,
  } as const;
}
