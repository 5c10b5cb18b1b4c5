import { SLOT_COUNT } from './key-slot.ts';

/** First and last slot, both included. */
export type SlotRange = readonly [first: number, last: number];

/** An immutable set of slots, kept as sorted ranges that neither touch nor overlap, so that equal sets look equal. */
export class SlotSet {
  static readonly empty = new SlotSet([]);
  static readonly all = new SlotSet([[0, SLOT_COUNT - 1]]);

  readonly ranges: readonly SlotRange[];

  private constructor(ranges: readonly SlotRange[]) {
    this.ranges = ranges;
  }

  static of(ranges: Iterable<SlotRange>): SlotSet {
    const sorted = [...ranges].toSorted((a, b) => a[0] - b[0]);
    const merged: [number, number][] = [];
    for (const [first, last] of sorted) {
      checkRange(first, last);
      const previous = merged.at(-1);
      if (previous !== undefined && first <= previous[1] + 1) previous[1] = Math.max(previous[1], last);
      else merged.push([first, last]);
    }
    return merged.length === 0 ? SlotSet.empty : new SlotSet(merged);
  }

  static ofSlots(slots: Iterable<number>): SlotSet {
    return SlotSet.of(Array.from(slots, (slot) => [slot, slot] as const));
  }

  /** Reads "0-5460,5462" as well as Valkey's own "0-5460 5462". */
  static parse(text: string): SlotSet {
    const words = text.split(/[\s,]+/).filter((word) => word !== '');
    return SlotSet.of(words.map(parseRange));
  }

  get count(): number {
    return this.ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  }

  get isEmpty(): boolean {
    return this.ranges.length === 0;
  }

  has(slot: number): boolean {
    return this.ranges.some(([first, last]) => first <= slot && slot <= last);
  }

  *[Symbol.iterator](): Generator<number> {
    for (const [first, last] of this.ranges) for (let slot = first; slot <= last; slot += 1) yield slot;
  }

  equals(other: SlotSet): boolean {
    return this.toString() === other.toString();
  }

  union(other: SlotSet): SlotSet {
    return SlotSet.of([...this.ranges, ...other.ranges]);
  }

  difference(other: SlotSet): SlotSet {
    let rest = this.ranges;
    for (const hole of other.ranges) rest = rest.flatMap((range) => cutOut(range, hole));
    return SlotSet.of(rest);
  }

  intersection(other: SlotSet): SlotSet {
    return this.difference(this.difference(other));
  }

  /** Whether the two have a slot in common, which is far cheaper to say than which. */
  overlaps(other: SlotSet): boolean {
    let at = 0;
    for (const [first, last] of this.ranges) {
      while ((other.ranges[at]?.[1] ?? SLOT_COUNT) < first) at += 1;
      if ((other.ranges[at]?.[0] ?? SLOT_COUNT) <= last) return true;
    }
    return false;
  }

  /** The lowest `count` slots, or all when there are fewer. */
  lowest(count: number): SlotSet {
    const taken: SlotRange[] = [];
    let missing = count;
    for (const [first, last] of this.ranges) {
      if (missing <= 0) break;
      taken.push([first, Math.min(last, first + missing - 1)]);
      missing -= last - first + 1;
    }
    return SlotSet.of(taken);
  }

  /** The highest `count` slots, or all when there are fewer. */
  highest(count: number): SlotSet {
    return this.difference(this.lowest(this.count - count));
  }

  toString(): string {
    return this.ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(',');
  }

  /** Recorded snapshots hold the text that `parse` reads. */
  toJSON(): string {
    return this.toString();
  }
}

function parseRange(word: string): SlotRange {
  const [, first, last] = /^(\d+)(?:-(\d+))?$/.exec(word) ?? [];
  if (first === undefined) throw new RangeError(`not a slot range: ${JSON.stringify(word)}`);
  return [Number(first), Number(last ?? first)];
}

function checkRange(first: number, last: number): void {
  const valid = Number.isInteger(first) && Number.isInteger(last) && first >= 0 && first <= last && last < SLOT_COUNT;
  if (!valid) throw new RangeError(`not a slot range: ${first}-${last}`);
}

function cutOut([first, last]: SlotRange, [holeFirst, holeLast]: SlotRange): SlotRange[] {
  const left: SlotRange[] = first < holeFirst ? [[first, Math.min(last, holeFirst - 1)]] : [];
  const right: SlotRange[] = last > holeLast ? [[Math.max(first, holeLast + 1), last]] : [];
  return [...left, ...right];
}
