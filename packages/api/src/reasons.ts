/**
 * Why something is as it is, in one word that condition, event, log and metric share. The text says what the word means
 * to a person; the troubleshooting guide has a page for each.
 */
export const reasons = {
  // Ready and Progressing
  Healthy: normal('Every slot is served and every replica is in sync.'),
  Creating: normal('The pods start and the cluster is being formed.'),
  WaitingForPods: normal('Pods have not been scheduled or are not ready yet.'),
  WaitingForSync: normal('A replica receives its data.'),
  ClusterFormed: normal('All 16384 slots are served for the first time.'),
  OrchestrationStarted: normal('A multi-step operation began.'),
  OrchestrationFinished: normal('A multi-step operation ended well.'),
  OrchestrationFailed: warning('A step failed and its policy says to stop; the message names the step.'),
  OrchestrationResumed: normal('The operator restarted and went on where it had been.'),
  Cancelled: normal('A change was stopped on request and is not begun again until the spec changes.'),
  NothingToCancel: warning('The annotation valkey.io/cancel names an operation that does not run or wait.'),
  WaitingForMaintenanceWindow: normal('A disruptive change waits for the next maintenance window.'),
  Reconfiguring: normal('Changed settings are put into effect on the running nodes.'),
  VolumesGrowing: normal('The volumes grow to the size that the spec asks for.'),
  Paused: normal('The annotation valkey.io/paused holds all actions.'),
  Unbound: normal('The operator has let go; the sidecars keep the nodes healthy.'),
  Deleting: normal('The resource is being deleted.'),

  // Nodes, shards and slots
  PrimaryHandedOver: normal('A primary gave its shard to a replica before it stopped.'),
  FailedOver: warning('A primary was lost and a replica took over.'),
  ReplicaAttached: normal('A replica joined its shard.'),
  ReplicaMissing: warning('A shard has fewer replicas than wanted.'),
  NodeUnreachable: warning('A sidecar has not been heard for a while.'),
  NodeForgotten: normal('A node that no longer exists was removed from the table of the others.'),
  ForeignNode: warning('A node that is not of this cluster is in its table.'),
  SlotsUncovered: warning('Some slots have no primary.'),
  QuorumLost: warning(
    'Most primaries are gone. Replicas may take over once the pods are proven gone or valkey.io/force-takeover is set.',
  ),
  EmptyPrimaryHeld: warning('A primary restarted without its data and is held back until a replica has taken over.'),
  SlotsMoving: normal('Slots move from one shard to another with their keys.'),
  MoveFailed: warning(
    'Slots could not be moved in several attempts; the message says why and names the key, if it is one.',
  ),
  DataLost: warning('A shard has no copy of its data left.'),

  // Rolls
  PodReplaced: normal('A pod is replaced by one of the new template.'),
  PodResized: normal('A pod gets other resources while it runs.'),
  RollHalted: warning('A pod of the new template did not become healthy; nothing else is replaced.'),
  RolledBack: warning(
    'A pod of the new template did not become healthy; the pods are those of the last good template.',
  ),

  UpgradeQueued: normal('A ValkeyUpgrade waits for its turn, for its cluster, or until that is well.'),
  UpgradeRefused: warning('A ValkeyUpgrade cannot be made; nothing was touched.'),
  UpgradeSucceeded: normal('Every pod is of the target of a ValkeyUpgrade and well.'),

  // What people wrote
  InvalidSpec: warning('The spec cannot be put into effect; the message names the field.'),
  DataDoesNotFit: warning('Fewer shards or less memory are wanted than the data needs; nothing was changed.'),
  DataWouldBeLost: warning('A change would lose data of shards that have no replica; nothing was changed.'),
  ImageUnavailable: warning('An image cannot be pulled, or is no Valkey.'),
  ExporterUnavailable: warning(
    'The exporter of a pod does not run: its metrics are missing. Its Valkey is not touched.',
  ),
  Unschedulable: warning('No node fits a pod; the message repeats the scheduler.'),
  ConfigRejected: warning('Valkey refused a setting; the old value stays in effect.'),
  ChildRefused: warning('The API server refuses an object of the cluster; the message repeats it. All else goes on.'),
  NameTaken: warning('An object of the needed name exists and is not ours; it is left alone.'),
  ForeignCrd: warning('The CRDs of this group belong to another operator.'),
  DefaultsChanged: normal('Defaults changed; the cluster keeps its values until the change is accepted.'),
  DriftRepaired: warning('Something managed was changed by someone else and was put back.'),
  DriftContested: warning(
    'Something managed is changed by someone else again and again; it is put back ever less often.',
  ),

  // Sidecars and certificates
  SidecarRefused: warning('A sidecar called with a certificate or token that does not prove who it is.'),
  CertificateIssued: normal('A certificate was issued.'),
  CertificateRotated: normal('Every node uses the new certificate.'),
  CertificateExpiring: warning('A certificate could not be renewed in time; the message says why.'),
} as const satisfies Record<string, ReasonEntry>;

export type Reason = keyof typeof reasons;

export interface ReasonEntry {
  /** Type of the Kubernetes event. */
  readonly event: 'Normal' | 'Warning';
  readonly text: string;
}

function normal(text: string): ReasonEntry {
  return { event: 'Normal', text };
}

function warning(text: string): ReasonEntry {
  return { event: 'Warning', text };
}
