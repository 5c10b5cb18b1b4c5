import { describe, expect, test } from 'vitest';
import { aCluster } from '../testing/builders.ts';
import { isFarewell } from './farewell.ts';

const uri = 'spiffe://lab.test/ns/apps/valkeycluster/demo/sidecar';
const refusal = (reason: 'InvalidToken' | 'ForeignToken', uris = [uri]) =>
  ({ reason, message: '', peer: { address: '10.0.0.1', certificate: { uris } as never } }) as const;

describe('a refused token', () => {
  const deleted = { get: () => aCluster({ deletionTimestamp: '2026-11-15T12:00:00Z' }) };
  const gone = { get: () => undefined };
  const present = { get: () => aCluster() };

  test('is a farewell when its cluster is being deleted or gone', () => {
    expect(isFarewell(refusal('InvalidToken'), deleted)).toBe(true);
    expect(isFarewell(refusal('InvalidToken'), gone)).toBe(true);
  });

  test('is none while its cluster lives, for another reason, or of one who is no sidecar', () => {
    expect(isFarewell(refusal('InvalidToken'), present)).toBe(false);
    expect(isFarewell(refusal('ForeignToken'), gone)).toBe(false);
    expect(isFarewell(refusal('InvalidToken', ['spiffe://lab.test/operator']), gone)).toBe(false);
    expect(isFarewell(refusal('InvalidToken', []), gone)).toBe(false);
  });
});
