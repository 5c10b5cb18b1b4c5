import { annotations } from '@valkey-operator/api';
import { SlotSet } from '@valkey-operator/valkey';
import type { NodeAction, NodeCommand } from '../actions.ts';
import type { Decision, PlanView } from '../decision.ts';
import { chooseSuccessor, hasQuorum, isForced, nameOf } from '../quorum.ts';
import type { NodeView, PodView } from '../snapshot.ts';
import { listNames } from '../status/list-names.ts';
import { hasKeys, isOwner, type SilentNode } from '../topology.ts';
import { promote } from './failover.ts';
import { assign, findHolders, type Holding, search, unite } from './slot-holders.ts';

/** The cluster fails over by itself well within this time; then it is helped. */
const ELECTION_MS = 15_000;

interface GatedPod extends PodView {
  readonly report: NodeView;
}

/**
 * A primary that restarted with less than it had waits at its start gate, lest its replica copies the emptiness (fault 8).
 * Once a replica has taken over, its sidecar lets it in. Here: help the replica, or find that there is none.
 */
export function planGates(view: PlanView): Decision | undefined {
  const gated = view.snapshot.pods.filter(isGated);
  const decisions = gated.map((pod) => decideGate(view, pod, gated)).filter((decision) => decision !== undefined);
  return decisions.find(({ stages }) => stages !== undefined) ?? decisions[0];
}

function isGated(pod: PodView): pod is GatedPod {
  return pod.report?.process.gate?.reason === 'REPLICA_MAY_HAVE_MORE_DATA' && pod.report.live;
}

function decideGate(view: PlanView, pod: GatedPod, gated: readonly GatedPod[]): Decision | undefined {
  const { topology } = view;
  const former = topology.silent.find((node) => node.pod?.name === pod.name && isOwner(node));
  const successor = former && chooseSuccessor(view, former);
  if (former && successor) {
    // Without a quorum nobody is elected: that is a case of its own.
    if (!hasQuorum(topology)) return undefined;
    const waited = topology.now - (pod.report.process.gate?.since ?? topology.now);
    if (waited > ELECTION_MS) return promote(successor, former, 'force');
    const message = `${pod.name} restarted with less data than its replica ${successor.pod.name} and waits until that one has taken over.`;
    return { reason: 'EmptyPrimaryHeld', message, wakeAfterMs: ELECTION_MS - waited + 1 };
  }
  // It was replaced, and will hear of it from the others.
  if (!former && topology.silent.some((node) => node.pod?.name === pod.name)) return undefined;
  return decideAlone(view, pod, former, gated);
}

/** Nobody can take over. If it is proven that nobody has more data, the primary starts with what it has. */
function decideAlone(
  view: PlanView,
  pod: GatedPod,
  former: SilentNode | undefined,
  gated: readonly GatedPod[],
): Decision {
  const { topology } = view;
  const unheard = topology.missing.map(({ name }) => name).filter((name) => !gated.some((each) => each.name === name));
  const holders = former?.replicas.filter(hasKeys).map((replica) => replica.pod.name) ?? [];
  const isProven = unheard.length === 0 && holders.length === 0 && topology.members.every(({ report }) => report.live);
  if (!isProven && !isForced(view)) {
    const why =
      holders.length > 0
        ? `${listNames(holders)} has data but was not in sync since it started`
        : `${listNames(unheard)} may have its data and has not been heard`;
    return {
      reason: 'EmptyPrimaryHeld',
      message: `${pod.name} restarted with less data than it had and is held: ${why}. It goes on by itself when that is cleared up; if it never will be, set the annotation ${annotations.forceTakeover} on the ValkeyCluster.`,
      held: true,
    };
  }
  const hasData = pod.report.dataState === 'present';
  const handover = former && handOverLeftovers(view, former, hasData);
  if (handover) return handover;
  const decision = hasData || pod.report.dataState === 'identity-only' ? 'keep-data' : 'new-node';
  const what = former ? nameOf(former) : pod.name;
  return {
    reason: 'EmptyPrimaryHeld',
    message: `No replica has more data than ${pod.name}, so it may start.`,
    stages: [[release(pod, { do: 'releaseGate', decision })]],
    events: hasData
      ? []
      : [{ reason: 'DataLost', message: `The data of ${what} is lost: it has none, and no replica has it.` }],
  };
}

/**
 * Another took over in the moment in which this one got slots, and had not heard of them, but has their keys. Who holds a slot
 * open has only some of its keys, and did not take over: that slot was on its way there.
 */
function handOverLeftovers(
  { topology }: PlanView,
  { id, podName, slots, knownBy }: SilentNode,
  hasData: boolean,
): Decision | undefined {
  const epoch = Math.max(0, ...knownBy.map(({ known }) => known.get(id)?.configEpoch ?? 0));
  const heirs = topology.shards.map(({ primary }) => primary).filter(({ cluster }) => cluster.configEpoch > epoch);
  const { searches, holdings } = findHolders(heirs, slots);
  if (searches.length > 0) return search(searches, slots);
  const [heir, ...others] = holdings.map(withoutOpen).filter(({ slots: held }) => !held.isEmpty);
  if (!heir) return undefined;
  // Without data of its own the rest of its slots is empty, and it waits until all of them are with somebody else.
  const rest = hasData ? SlotSet.empty : slots.difference(unite([heir, ...others]));
  const all = [{ ...heir, slots: heir.slots.union(rest) }, ...others];
  const names = listNames(all.map(({ member }) => member.pod.name));
  const message = `Slots ${unite(all).toString()} of ${podName} go to ${names}, where their keys are.`;
  return { reason: 'SlotsUncovered', message, stages: [all.map((holding) => assign(holding))] };
}

function withoutOpen({ member, slots }: Holding): Holding {
  const open = SlotSet.ofSlots(member.cluster.openSlots.map(({ slot }) => slot));
  return { member, slots: slots.difference(open) };
}

function release(pod: PodView, command: NodeCommand): NodeAction {
  const guard = { podUid: pod.uid, processState: 'gated' } as const;
  return { type: 'CommandNode', pod: pod.name, guard, command, reason: 'EmptyPrimaryHeld' };
}
