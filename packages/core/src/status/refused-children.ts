import type { Refused } from '../drift.ts';
import type { Finding } from './health.ts';
import { listNames } from './list-names.ts';

/** Of many Services one is quoted: the others are refused for much the same. */
export function describeRefused([first, ...others]: readonly Refused[]): Finding | undefined {
  if (!first) return undefined;
  const also = others.length > 0 ? ` Refused as well: ${listNames(others.map(({ child }) => child))}.` : '';
  return { reason: 'ChildRefused', message: `The API server refuses ${first.child}: ${first.message}.${also}` };
}
