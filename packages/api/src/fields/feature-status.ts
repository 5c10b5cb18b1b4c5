import { choice, flag, list, object, text } from '../schema/field.ts';

// Parts that the status of every deployment has, in the words of the seeds.

export const phases = ['Pending', 'Running', 'Updating', 'Backup', 'Restore', 'Failed', 'Unbound'] as const;

export type Phase = (typeof phases)[number];

export const phase = choice('One-word summary for people; programs read conditions.', phases);

export const tlsStatus = object('TLS of the Valkey ports.', {
  enabled: flag('Whether clients can use TLS.'),
  certificateStatus: choice('State of the certificate.', [
    'Valid',
    'Expiring',
    'Expired',
    'Invalid',
    'Missing',
  ]).optional(),
});

export const aclStatus = object('Users of Valkey.', {
  enabled: flag('Whether users are defined.'),
  synced: flag('Whether every node has them.'),
  users: list(
    'The users.',
    object('A user.', {
      name: text('Name of the user.', { max: 128 }),
      status: choice('Whether the user can sign in on every node.', ['Active', 'Pending', 'Error']),
    }),
    { max: 256, key: 'name' },
  ).optional(),
});

export const exporterStatus = object('The Prometheus exporter; none while pods are made without it.', {
  enabled: flag('Whether pods are made with it.'),
  pods: text('Pods in which it runs, of all: 6/6.', { max: 16 }).optional(),
  metricsEndpoint: text('Where its metrics are. The name has the address of every pod; each tells of its own Valkey.', {
    max: 512,
  }).optional(),
});
