import { describe, expect, it } from 'vitest';
import { SlimHeaders } from './slim-headers.ts';

/** The same done to Node's own: what connect relies on is what the standard says. */
describe.each([
  ['ours', SlimHeaders],
  ['those of Node', Headers],
])('headers, %s', (_whose, Kind) => {
  it('are made of pairs, of an object and of one another', () => {
    const made = [new Kind([['A', '1']]), new Kind({ A: '1' }), new Kind(new Kind({ A: '1' }))];
    for (const headers of made) expect([...headers]).toEqual([['a', '1']]);
    expect([...new Kind()]).toEqual([]);
  });

  it('ignore case, trim, join what is added and replace what is set', () => {
    const headers = new Kind();
    headers.append('X-Name', ' one ');
    headers.append('x-name', 'two');
    expect(headers.get('X-NAME')).toBe('one, two');
    headers.set('x-Name', 'three');
    expect([...headers.keys(), ...headers.values()]).toEqual(['x-name', 'three']);
    expect([headers.has('X-Name'), headers.has('other'), headers.get('other')]).toEqual([true, false, null]);
    headers.delete('X-Name');
    expect([...headers.entries()]).toEqual([]);
  });

  it('are told one by one, value first', () => {
    const told: string[][] = [];
    new Kind({ b: '2' }).forEach((value, name) => told.push([value, name]));
    expect(told).toEqual([['2', 'b']]);
  });
});
