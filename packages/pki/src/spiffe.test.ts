import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { formatSpiffeId, parseSpiffeId, parseWorkloadId, workloadIdUri, type WorkloadId } from './spiffe.ts';

const label = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?$/);
const workload: fc.Arbitrary<WorkloadId> = fc.oneof(
  fc.record({ kind: fc.constant('operator' as const), trustDomain: label }),
  fc.record(
    { kind: fc.constant('sidecar' as const), trustDomain: label, namespace: label, cluster: label, pod: label },
    { requiredKeys: ['kind', 'trustDomain', 'namespace', 'cluster'] },
  ),
);

describe('a SPIFFE id', () => {
  it('is read back as it was written, for every workload', () => {
    fc.assert(
      fc.property(workload, (id) => {
        expect(parseWorkloadId(workloadIdUri(id))).toEqual(id);
      }),
    );
  });

  it('that parses is written back to the very same text, whatever the text was', () => {
    const uri = fc.stringMatching(/^[a-zA-Z0-9._/:%@-]{0,12}$/).map((rest) => `spiffe://${rest}`);
    fc.assert(
      fc.property(uri, (text) => {
        const id = parseSpiffeId(text);
        expect(id ? formatSpiffeId(id) : text).toBe(text);
      }),
    );
  });

  it.each([
    'https://td/operator',
    'SPIFFE://td/operator',
    'spiffe:/td/operator',
    'spiffe:///operator',
    'spiffe://TD/operator',
    'spiffe://td:8443/operator',
    'spiffe://user@td/operator',
    'spiffe://td/operator/',
    'spiffe://td//operator',
    'spiffe://td/./operator',
    'spiffe://td/x/../operator',
    'spiffe://td/operator?x=1',
    'spiffe://td/operator#x',
    'spiffe://td/oper%61tor',
    'spiffe://td/operator\n',
    'spiffe://td/opérator',
    `spiffe://td/${'x'.repeat(2048)}`,
  ])('is not %j', (uri) => {
    expect(parseSpiffeId(uri)).toBeUndefined();
  });

  it.each([
    'spiffe://td',
    'spiffe://td/Operator',
    'spiffe://td/operator/x',
    'spiffe://td/ns/a/valkeycluster/b',
    'spiffe://td/ns/a/valkeycluster/b/operator',
    'spiffe://td/ns/a/valkeycluster/b/sidecar/p/q',
    'spiffe://td/ns/A/valkeycluster/b/sidecar',
    'spiffe://td/ns/a.b/valkeycluster/b/sidecar',
    'spiffe://td/ns/a/valkeycluster/-b/sidecar',
    'spiffe://td/ns/a/sa/b/sidecar',
  ])('such as %s names no workload of ours', (uri) => {
    expect(parseSpiffeId(uri)).toBeDefined();
    expect(parseWorkloadId(uri)).toBeUndefined();
  });

  it('cannot be made of names that would change its meaning', () => {
    const sidecar = { kind: 'sidecar', trustDomain: 'td', namespace: 'a', cluster: 'b/../../../operator' } as const;
    expect(() => workloadIdUri(sidecar)).toThrow('not a SPIFFE id');
    expect(() => workloadIdUri({ ...sidecar, cluster: 'b/sidecar/x' })).toThrow('not an identity');
  });
});
