import { choice, list, object, text } from '../schema/field.ts';

/** One node's answer to what it was given. */
export const nodeOutcome = object('A node and how it fared.', {
  name: text('Name of the pod.', { max: 63 }),
  status: choice('Whether the node took it.', ['Ok', 'Pending', 'Error']),
  message: text('What went wrong.', { max: 1024 }).optional(),
});

/** Users of a shared resource, in the status of that resource. */
export const clustersInUse = list(
  'Every deployment that uses this.',
  object('A deployment.', {
    name: text('Its name.', { max: 63 }),
    nodes: list('Its nodes.', nodeOutcome, { max: 3000, key: 'name' }).optional(),
  }),
  { max: 64, key: 'name' },
);
