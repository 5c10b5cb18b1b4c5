import { choice, text, timestamp } from '../schema/field.ts';
import { matches } from '../schema/rule.ts';

export const purpose = choice('mtls: between operator and sidecars. tls: for clients of Valkey.', ['mtls', 'tls']);

export const validity = {
  issuedAt: timestamp('Start of the validity.'),
  expiresAt: timestamp('End of the validity.'),
};

export const thumbprint = text('Digest of the certificate: SHA-1 or SHA-256 in lower case hex.', {
  max: 64,
  rules: [matches('^([0-9a-f]{40}|[0-9a-f]{64})$', 'must be 40 or 64 hex digits in lower case')],
});
