import { describe, expect, it } from 'vitest';
import { readEnvironment } from './environment.ts';
import { variables } from './testing/variables.ts';

describe('the environment', () => {
  it('is read as a whole', () => {
    expect(readEnvironment(variables)).toMatchObject({
      pod: { name: 'vc-0' },
      cluster: 'vc',
      graceMs: 60_000,
      zone: '',
    });
  });

  it('is refused with everything that is missing, not with the first of it', () => {
    expect(() => readEnvironment({ ...variables, POD_IP: undefined, TRUST_DOMAIN: '' })).toThrow(
      'missing in the environment: POD_IP, TRUST_DOMAIN',
    );
  });

  it('is refused when the grace period is no number', () => {
    expect(() => readEnvironment({ ...variables, TERMINATION_GRACE_SECONDS: 'long' })).toThrow(/number of seconds/);
  });
});
