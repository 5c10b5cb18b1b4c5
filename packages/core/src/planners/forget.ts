import type { NodeAction } from '../actions.ts';
import { type Decision, order, type PlanView } from '../decision.ts';
import { nameOf } from '../quorum.ts';
import { listNames } from '../status/list-names.ts';
import { isOwner, type SilentNode } from '../topology.ts';

/** Nodes in the tables that are no pod of this cluster: replaced ones, and foreign ones (fault 19). */
export function planForget({ topology }: PlanView): Decision | undefined {
  const followed = new Set(topology.members.map(({ cluster }) => cluster.primaryId));
  const useless = topology.silent.filter((node) => !isOwner(node) && !followed.has(node.id));
  const gone = useless.filter(({ provenGone }) => provenGone);
  // One that has just come may not have a link yet.
  const foreign = topology.silent.filter(
    ({ provenGone, podName, seenAlive, missed }) => provenGone && podName === undefined && (seenAlive || !missed),
  );
  const events = foreign.map((node) => ({ reason: 'ForeignNode', message: describeForeign(node) }) as const);
  if (gone.length > 0) {
    const message = `The nodes forget ${listNames(gone.map(nameOf))}, which ${gone.length === 1 ? 'is' : 'are'} no member any more.`;
    return {
      reason: 'NodeForgotten',
      message,
      stages: [forgetEverywhere(gone)],
      events: [...events, { reason: 'NodeForgotten', message }],
    };
  }
  const [intruder] = foreign.filter(isOwner);
  if (intruder)
    return {
      reason: 'ForeignNode',
      message: `${describeForeign(intruder)} It owns slots ${intruder.slots.toString()}: stop it, or move these to a primary of this cluster.`,
      held: true,
    };
  // All pods have reported, but not all through a session: worth one, to be certain.
  if (useless.length === 0 || topology.missing.length > 0) return undefined;
  return {
    reason: 'NodeForgotten',
    message: `Asking every sidecar whether ${listNames(useless.map(nameOf))} still exists.`,
  };
}

/** On all of them in one stage: whoever still knows a node tells the others of it again when their ban ends. */
export function forgetEverywhere(nodes: readonly SilentNode[]): NodeAction[] {
  const members = new Set(nodes.flatMap(({ knownBy }) => knownBy));
  return [...members].map((member) => {
    const nodeIds = nodes.map(({ id }) => id).filter((id) => member.known.has(id));
    return order(member, { do: 'forget', nodeIds }, 'NodeForgotten');
  });
}

function describeForeign({ id, ip }: SilentNode): string {
  return `Node ${id} at ${ip} is in the tables of the cluster but is no pod of it.`;
}
