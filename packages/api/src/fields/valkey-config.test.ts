import { expect, test } from 'vitest';
import { isOwnedSetting } from './valkey-config.ts';

test.each(['port', 'tls-port', 'cluster-node-timeout', 'include', 'requirepass', 'save'])('%s is owned', (key) => {
  expect(isOwnedSetting(key)).toBe(true);
});

test.each(['maxmemory', 'hz', 'timeout', 'tls', 'replica-priority'])('%s is for users', (key) => {
  expect(isOwnedSetting(key)).toBe(false);
});
