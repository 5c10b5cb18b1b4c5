import { integer, object } from '../schema/field.ts';
import { certificateValidity } from '../schema/duration.ts';

/** When a certificate is renewed, in percent of its validity. */
export const rotateBeforePercent = integer('When a certificate is renewed, in percent of its validity: 66 to 80.', {
  min: 66,
  max: 80,
  why: 'earlier wastes certificates, later leaves too little time to retry a failed renewal',
});

export const certificateSchedule = {
  clientCertValidity: certificateValidity(
    'How long a certificate is valid: 12h, 90d, 3mo, 1y; at least 10m.',
  ).optional(),
  rotateBeforePercent: rotateBeforePercent.optional(),
};

export const operatorMtls = object(
  'Certificates between operator and sidecars, which always speak mutual TLS. Applied at the next rotation.',
  certificateSchedule,
);
