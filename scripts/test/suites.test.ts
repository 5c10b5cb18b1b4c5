import { describe, expect, test } from 'vitest';
import { selectSuites } from './suites.ts';

const namesOf = (...names: string[]) => selectSuites(names).map((suite) => suite.name);

describe('selecting suites', () => {
  test('means everything when nothing is named, with the end-to-end tests last', () => {
    expect(namesOf()).toEqual(['format', 'lint', 'types', 'dead-code', 'generated', 'unit', 'e2e']);
  });

  test('takes suites and groups, in the order of the list', () => {
    expect(namesOf('unit', 'static')).toEqual(['format', 'lint', 'types', 'dead-code', 'unit']);
  });

  test('refuses an unknown name and says what there is', () => {
    expect(() => selectSuites(['untis'])).toThrow(/no suite "untis": there is .*unit, e2e/);
  });
});
