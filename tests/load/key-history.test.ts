import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Assurance, KeyHistory, type Loss } from './key-history.ts';

const assurance = fc.constantFrom<Assurance>('plain', 'waited');

/** A key with these writes, each of which found the one before. */
function written(...assurances: Assurance[]): KeyHistory {
  const history = new KeyHistory();
  for (const each of assurances) expect(history.acknowledge(history.next - 1, each)).toEqual({ plain: 0, waited: 0 });
  return history;
}

const count = (assurances: Assurance[]): Loss => ({
  plain: assurances.filter((each) => each === 'plain').length,
  waited: assurances.filter((each) => each === 'waited').length,
});

describe('the history of a key', () => {
  test('finds nothing lost when the last acknowledged write is there', () => {
    expect(written('plain', 'waited').observe(2)).toEqual({ plain: 0, waited: 0 });
  });

  test('counts every acknowledged write above the one that is there, by what vouched for it', () => {
    fc.assert(
      fc.property(fc.array(assurance), fc.nat(), (assurances, any) => {
        const found = any % (assurances.length + 1);
        expect(written(...assurances).observe(found)).toEqual(count(assurances.slice(found)));
      }),
    );
  });

  test('finds a loss that was written over, and counts it once', () => {
    fc.assert(
      fc.property(fc.array(assurance, { minLength: 1 }), fc.nat(), assurance, (assurances, any, later) => {
        const found = any % assurances.length;
        const history = written(...assurances);
        expect(history.acknowledge(found, later)).toEqual(count(assurances.slice(found)));
        expect(history.observe(history.next - 1)).toEqual({ plain: 0, waited: 0 });
      }),
    );
  });

  test('counts a loss once however often it is seen', () => {
    const history = written('waited');
    expect(history.observe(0)).toEqual({ plain: 0, waited: 1 });
    expect(history.observe(0)).toEqual({ plain: 0, waited: 0 });
  });

  test('takes a write with an unknown outcome for neither kept nor lost, but not what came before it', () => {
    fc.assert(
      fc.property(fc.array(assurance, { minLength: 1 }), (assurances) => {
        const uncertain = () => {
          const history = written(...assurances);
          history.leaveUncertain();
          return history;
        };
        expect(uncertain().observe(assurances.length + 1)).toEqual({ plain: 0, waited: 0 });
        expect(uncertain().observe(assurances.length)).toEqual({ plain: 0, waited: 0 });
        expect(uncertain().observe(assurances.length - 1)).toEqual(count(assurances.slice(-1)));
      }),
    );
  });

  test('ends with an unknown outcome, because that write may come after a later one', () => {
    const history = written('plain');
    expect(history.open).toBe(true);
    history.leaveUncertain();
    expect(history.open).toBe(false);
  });

  test('refuses a value that nobody wrote', () => {
    expect(() => written('plain').observe(2)).toThrow('write 2 was never made');
    expect(() => written('plain').observe(Number.NaN)).toThrow('never made');
  });
});
