import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkCoverage } from './coverage.ts';
import { crc16, keySlot, SLOT_COUNT } from './key-slot.ts';
import { applySlotMoves, assignSlotsEvenly, planSlotMoves } from './slot-moves.ts';
import { SlotSet } from './slot-set.ts';

const slots = fc
  .array(fc.integer({ min: 0, max: SLOT_COUNT - 1 }), { maxLength: 40 })
  .chain((starts) =>
    fc
      .array(fc.integer({ min: 0, max: 600 }), { minLength: starts.length, maxLength: starts.length })
      .map((lengths) =>
        SlotSet.of(
          starts.map((first, index) => [first, Math.min(SLOT_COUNT - 1, first + (lengths[index] ?? 0))] as const),
        ),
      ),
  );

const sorted = (set: Iterable<number>) => [...set].toSorted((a, b) => a - b);

describe('keySlot', () => {
  it('uses the CRC16 of the cluster specification', () => {
    expect(crc16(Buffer.from('123456789'))).toBe(0x31c3);
  });

  it.each([
    ['k3991', 93], // What CLUSTER KEYSLOT of Valkey 8.0 says.
    ['foo', 12182],
    ['', 0],
  ])('places %j in slot %i', (key, slot) => {
    expect(keySlot(key)).toBe(slot);
  });

  it('hashes only the first tag in braces', () => {
    expect(keySlot('{user1000}.following')).toBe(keySlot('user1000'));
    expect(keySlot('foo{bar}{zap}')).toBe(keySlot('bar'));
    expect(keySlot('foo{{bar}}zap')).toBe(keySlot('{bar'));
  });

  it('hashes the whole key when the tag is empty or open', () => {
    expect(keySlot('foo{}{bar}')).toBe(crc16(Buffer.from('foo{}{bar}')) % SLOT_COUNT);
    expect(keySlot('foo{bar')).toBe(crc16(Buffer.from('foo{bar')) % SLOT_COUNT);
  });

  it('hashes the bytes of a binary key', () => {
    expect(keySlot(Buffer.from([0xff, 0xfe]))).toBe(crc16(Buffer.from([0xff, 0xfe])) % SLOT_COUNT);
  });
});

describe('SlotSet', () => {
  it('agrees with plain sets of numbers', () => {
    fc.assert(
      fc.property(slots, slots, (a, b) => {
        const [x, y] = [new Set(a), new Set(b)];
        expect([...a.union(b)]).toEqual(sorted(new Set([...x, ...y])));
        expect([...a.difference(b)]).toEqual([...x].filter((slot) => !y.has(slot)));
        expect([...a.intersection(b)]).toEqual([...x].filter((slot) => y.has(slot)));
        expect(a.overlaps(b)).toBe([...x].some((slot) => y.has(slot)));
        expect(a.count).toBe(x.size);
        expect(SlotSet.ofSlots(x).equals(a)).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it('reads back what it writes', () => {
    fc.assert(
      fc.property(slots, (set) => {
        expect(SlotSet.parse(set.toString())).toEqual(set);
      }),
    );
  });

  it('splits into the lowest and the highest slots without losing one', () => {
    fc.assert(
      fc.property(slots, fc.nat(SLOT_COUNT), (set, count) => {
        const low = set.lowest(count);
        expect(low.count).toBe(Math.min(count, set.count));
        expect(low.union(set.highest(set.count - low.count))).toEqual(set);
      }),
    );
  });

  it('joins ranges that touch', () => {
    expect(SlotSet.parse('5-9,0-4 11').toString()).toBe('0-9,11');
  });

  it.each(['-1', '16384', '5-4', 'a', '1-2-3', '1.5'])('refuses %j', (text) => {
    expect(() => SlotSet.parse(text)).toThrow(RangeError);
  });
});

describe('checkCoverage', () => {
  it('names the slots without an owner and those with two', () => {
    const coverage = checkCoverage([SlotSet.parse('0-100'), SlotSet.parse('90-16000')]);
    expect(coverage.uncovered.toString()).toBe('16001-16383');
    expect(coverage.contested.toString()).toBe('90-100');
  });
});

describe('assignSlotsEvenly', () => {
  it('covers every slot once, with shares that differ by at most one', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), (shardCount) => {
        const shares = assignSlotsEvenly(shardCount);
        const counts = shares.map((share) => share.count);
        expect(checkCoverage(shares)).toEqual({ uncovered: SlotSet.empty, contested: SlotSet.empty });
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
      }),
    );
  });

  it.each([0, -1, 1.5, SLOT_COUNT + 1])('refuses %d shards', (shardCount) => {
    expect(() => assignSlotsEvenly(shardCount)).toThrow(RangeError);
  });
});

/** Any way the slots may lie: each slot belongs to one of a few shards, or (now and then) to none. */
const ownership = fc
  .tuple(fc.integer({ min: 1, max: 6 }), fc.array(fc.nat(SLOT_COUNT - 1), { maxLength: 30 }), fc.array(fc.nat(6)))
  .map(([shardCount, cuts, choices]) => {
    const edges = sorted(new Set([0, ...cuts, SLOT_COUNT]));
    const owned = new Map<string, SlotSet>();
    for (const [index, first] of edges.slice(0, -1).entries()) {
      const choice = choices[index] ?? index;
      if (choice === 6) continue;
      const shard = `shard-${choice % shardCount}`;
      const range = SlotSet.of([[first, (edges[index + 1] ?? SLOT_COUNT) - 1]]);
      owned.set(shard, (owned.get(shard) ?? SlotSet.empty).union(range));
    }
    return owned;
  });
const targets = fc.subarray(
  Array.from({ length: 9 }, (_, index) => `shard-${index}`),
  { minLength: 1 },
);

/** The least that can move under any even sharing: tries every choice of who gets the larger quota. */
function leastMoved(owned: ReadonlyMap<string, SlotSet>, shards: readonly string[]): number {
  const total = [...owned.values()].reduce((sum, set) => sum + set.count, 0);
  const share = Math.floor(total / shards.length);
  const leaving = [...owned].filter(([shard]) => !shards.includes(shard)).reduce((sum, [, set]) => sum + set.count, 0);
  let least = Infinity;
  for (let larger = 0; larger < 2 ** shards.length; larger += 1) {
    const quotas = shards.map((_, index) => share + ((larger >> index) & 1));
    if (quotas.reduce((sum, quota) => sum + quota, 0) !== total) continue;
    const surplus = shards.reduce(
      (sum, shard, index) => sum + Math.max(0, (owned.get(shard)?.count ?? 0) - (quotas[index] ?? 0)),
      0,
    );
    least = Math.min(least, leaving + surplus);
  }
  return least;
}

describe('planSlotMoves', () => {
  it('ends even, empties the shards that leave, loses no slot, and moves no slot more than it must', () => {
    fc.assert(
      fc.property(ownership, targets, (owned, shards) => {
        const moves = planSlotMoves(owned, shards);
        const after = applySlotMoves(owned, moves);
        const counts = shards.map((shard) => after.get(shard)?.count ?? 0);

        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
        expect([...after].filter(([shard, set]) => !shards.includes(shard) && !set.isEmpty)).toEqual([]);
        expect(checkCoverage(after.values())).toEqual(checkCoverage(owned.values()));
        for (const { from, to, slots: moved } of moves) {
          expect(shards).toContain(to);
          expect(moved.difference(owned.get(from) ?? SlotSet.empty).isEmpty).toBe(true);
          expect(moved.isEmpty).toBe(false);
        }
        expect(moves.reduce((sum, move) => sum + move.slots.count, 0)).toBe(leastMoved(owned, shards));
      }),
    );
  });

  it('has nothing to do after its own moves', () => {
    fc.assert(
      fc.property(ownership, targets, (owned, shards) => {
        const after = applySlotMoves(owned, planSlotMoves(owned, shards));
        expect(planSlotMoves(after, shards)).toEqual([]);
      }),
    );
  });

  it('does not depend on the order in which shards are named', () => {
    fc.assert(
      fc.property(ownership, targets, (owned, shards) => {
        const reversed = new Map([...owned].toReversed());
        expect(planSlotMoves(reversed, shards.toReversed())).toEqual(planSlotMoves(owned, shards));
      }),
    );
  });

  it('gives the fourth shard a quarter taken from each of three', () => {
    const [a, b, c] = assignSlotsEvenly(3);
    const owned = new Map([
      ['a', a ?? SlotSet.empty],
      ['b', b ?? SlotSet.empty],
      ['c', c ?? SlotSet.empty],
    ]);
    expect(
      planSlotMoves(owned, ['a', 'b', 'c', 'd']).map((move) => `${move.from}>${move.to} ${move.slots.toString()}`),
    ).toEqual(['a>d 4096-5460', 'b>d 9557-10921', 'c>d 15018-16383']);
  });

  it('refuses to leave the slots without a shard', () => {
    expect(() => planSlotMoves(new Map([['a', SlotSet.all]]), [])).toThrow('no shard is left');
  });
});
