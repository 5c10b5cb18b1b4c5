import type { SlotMove } from '@valkey-operator/valkey';
import { listNames } from '../status/list-names.ts';
import type { Member, Topology } from '../topology.ts';

/** So often a move is tried before a person should look; it goes on being tried, a minute apart. */
const FAILURES_WORTH_TELLING = 4;

/** Sources of moves that are still wanted and fail again and again. What failed on the way to somebody else is over. */
export function findFailing({ shards }: Topology, wanted: readonly SlotMove[]): Member[] {
  return shards
    .map(({ primary }) => primary)
    .filter(({ id, report: { move } }) => {
      const isFailing = (move?.failures ?? 0) >= FAILURES_WORTH_TELLING;
      return isFailing && wanted.some(({ from, to }) => from === id && to === move?.targetId);
    });
}

export function describeFailures(sources: readonly Member[]): string {
  const groups = [...Map.groupBy(sources, describeCause)];
  const told = groups.map(([cause, members]) => {
    const attempts = Math.max(...members.map(({ report }) => report.move?.failures ?? 0));
    return `Slots could not be moved from ${listNames(members.map(({ pod }) => pod.name))} in ${attempts} attempts${cause}.`;
  });
  return `${told.join(' ')} It is tried again, at least once a minute; nothing is lost meanwhile.`;
}

function describeCause({ report }: Member): string {
  const { message = '', notableKeys = [] } = report.move ?? {};
  const keys = notableKeys.length > 0 ? `. Look at the key ${listNames(notableKeys)}` : '';
  return `${message && `: ${message}`}${keys}`;
}
