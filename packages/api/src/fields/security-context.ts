import { choice, integer, list, object, text } from '../schema/field.ts';

const id = (description: string) =>
  integer(description, {
    min: 1,
    why: 'the pods run under the "restricted" Pod Security Standard, which forbids root',
  });

/** The pod's securityContext, short of everything that "restricted" forbids anyway. */
export const securityContext = object(
  'Identity of the processes. Immutable after creation. ' +
    'Beyond it, every container runs as non-root, with a read-only root, no capabilities and the RuntimeDefault seccomp profile.',
  {
    runAsUser: id('User id of every container.').optional(),
    runAsGroup: id('Group id of every container.').optional(),
    fsGroup: id('Group that owns the volumes.').optional(),
    fsGroupChangePolicy: choice('When the ownership of a volume is set.', ['OnRootMismatch', 'Always']).optional(),
    supplementalGroups: list('More groups of the processes.', integer('A group id.', { min: 1 }), {
      max: 32,
    }).optional(),
    seLinuxOptions: object('SELinux context of the containers.', {
      user: text('SELinux user.').optional(),
      role: text('SELinux role.').optional(),
      type: text('SELinux type.').optional(),
      level: text('SELinux level.').optional(),
    }).optional(),
  },
);
