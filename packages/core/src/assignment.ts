import { crowding, type Placed } from './placement.ts';

/** That two belong to one shard at all: far above sharing a node, so that shards fill up evenly before anything else counts. */
const COMPANY = 10_000;

/**
 * Shares newcomers out among crews that exist already, all of them at once: looked at one by one, the first would take the
 * place that only the last fits in. First come, first served, then improved until no move of one and no exchange of two makes
 * it better. The answer has the newcomers of each crew, in the order of the crews.
 */
export function assignNewcomers<T extends Placed>(
  newcomers: readonly T[],
  crews: readonly (readonly Placed[])[],
): readonly (readonly T[])[] {
  if (crews.length === 0) return [];
  const seats = new Map<T, number>();
  const joined = (crew: number) => newcomers.filter((each) => seats.get(each) === crew);
  const strain = (newcomer: T, crew: number, instead?: T) => {
    const others = [...(crews[crew] ?? []), ...joined(crew)].filter((each) => each !== newcomer && each !== instead);
    return COMPANY * others.length + crowding(newcomer, others);
  };
  const takeBestSeat = (newcomer: T) => {
    const now = seats.get(newcomer);
    const ranked = crews.map((_, crew) => ({ crew, cost: strain(newcomer, crew) })).toSorted((a, b) => a.cost - b.cost);
    const best = ranked[0]!;
    if (now !== undefined && best.cost >= strain(newcomer, now)) return false;
    seats.set(newcomer, best.crew);
    return true;
  };
  const exchangeForBetter = (first: T) =>
    newcomers.some((second) => {
      const [here, there] = [seats.get(first)!, seats.get(second)!];
      if (here === there) return false;
      const now = strain(first, here) + strain(second, there);
      const then = strain(first, there, second) + strain(second, here, first);
      if (then >= now) return false;
      seats.set(first, there).set(second, here);
      return true;
    });
  newcomers.forEach(takeBestSeat);
  // Each step lowers the sum of all strains, so this ends.
  while (newcomers.some((each) => takeBestSeat(each) || exchangeForBetter(each)));
  return crews.map((_, crew) => joined(crew));
}
