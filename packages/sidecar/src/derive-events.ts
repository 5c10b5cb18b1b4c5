import { ClusterState } from '@valkey-operator/rpc';
import type { EventKind } from './event-outbox.ts';
import { judgeReadiness } from './readiness.ts';
import { describeEnd, describeHold, ROLES } from './report.ts';
import type { ValkeyFacts } from './valkey-facts.ts';
import type { ProcessView } from './valkey-watch.ts';

/** What of one look is compared with the next. */
export interface Look {
  readonly view: ProcessView;
  readonly facts: ValkeyFacts | undefined;
  /** By a session, which hears of every change of the table anyway. */
  readonly isWatched: boolean;
}

/** What happened between two looks that the operator should hear of at once. Not knowing is no change. */
export function deriveEvents(before: Look, after: Look): EventKind[] {
  return [...processEvents(before, after), ...clusterEvents(before, after), ...readinessEvents(before, after)];
}

function processEvents(before: Look, { view, facts }: Look): EventKind[] {
  const events: EventKind[] = [];
  if (view.lastEnd && view.lastEnd !== before.view.lastEnd) {
    events.push({ case: 'valkeyExited', value: { exit: describeEnd(view.lastEnd) } });
  }
  if (view.hold && view.hold !== before.view.hold) {
    events.push({ case: 'gateWaiting', value: { gate: describeHold(view.hold) } });
  }
  if (facts && view.startedAt && before.view.startedAt === undefined) {
    events.push({ case: 'valkeyStarted', value: { runId: facts.info.server.runId } });
  }
  return events;
}

function clusterEvents({ facts: before }: Look, { facts: after, isWatched }: Look): EventKind[] {
  const events: EventKind[] = [];
  const [from, to] = [before?.cluster, after?.cluster];
  if (!from || !to) return events;
  if (from.myself.role !== to.myself.role) {
    events.push({ case: 'roleChanged', value: { from: ROLES[from.myself.role], to: ROLES[to.myself.role] } });
  }
  if (from.info.state !== to.info.state) {
    events.push({
      case: 'clusterStateChanged',
      value: { from: stateOf(from.info.state), to: stateOf(to.info.state) },
    });
  }
  if (!isWatched && tableOf(from) !== tableOf(to)) events.push({ case: 'tableChanged', value: {} });
  return events;
}

/** Who is in the cluster, whom each follows, who has which slots and which are open: what somebody may have changed by hand. */
function tableOf({ nodes, myself }: NonNullable<ValkeyFacts['cluster']>): string {
  const rows = nodes.map(({ id, ip, primaryId, slots }) => [id, ip, primaryId, slots].join());
  const open = myself.openSlots.map(({ slot, direction, peer }) => [slot, direction, peer].join());
  return [...rows.toSorted(), ...open].join('\n');
}

function readinessEvents(before: Look, after: Look): EventKind[] {
  const was = judgeReadiness(before.view, before.facts);
  const is = judgeReadiness(after.view, after.facts);
  if (was.ok === is.ok) return [];
  return [{ case: 'readinessChanged', value: { ready: is.ok, message: is.message } }];
}

function stateOf(state: 'ok' | 'fail') {
  return state === 'ok' ? ClusterState.OK : ClusterState.FAIL;
}
