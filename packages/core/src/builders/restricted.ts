/** What the restricted Pod Security Standard asks of each container, and a root that nobody writes to. */
export const RESTRICTED = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};
