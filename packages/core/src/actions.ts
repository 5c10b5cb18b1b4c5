import type {
  Condition,
  EffectiveClusterSpec,
  OrchestrationKind,
  Reason,
  ValkeyCluster,
  ValkeyClusterStatus,
} from '@valkey-operator/api';
import type { UpgradesOutcome } from './upgrade/upgrades.ts';
import type { ChildObject } from './snapshot.ts';

/**
 * What the planner can ask for. Every action is idempotent, and each that could hurt carries the facts it was decided on:
 * whoever carries it out refuses it when they no longer hold.
 */
export type Action =
  | { readonly type: 'ApplyChild'; readonly object: ChildObject; readonly drift?: string }
  | {
      readonly type: 'DeleteChild';
      readonly kind: string;
      readonly apiVersion: string;
      readonly name: string;
      readonly uid: string;
    }
  | { readonly type: 'DeletePod'; readonly pod: string; readonly uid: string; readonly reason: Reason }
  | { readonly type: 'GrowClaim'; readonly claim: string; readonly uid: string; readonly storage: string }
  | { readonly type: 'DeleteClaim'; readonly claim: string; readonly uid: string }
  | {
      readonly type: 'LabelPod';
      readonly pod: string;
      readonly uid: string;
      /** Null: not any more. */
      readonly labels: Readonly<Record<string, string | null>>;
      readonly annotations?: Readonly<Record<string, string | null>>;
    }
  | {
      readonly type: 'ResizePod';
      readonly pod: string;
      readonly uid: string;
      readonly resources: EffectiveClusterSpec['resources'];
      /** What the pod is made of from then on, as it says itself. */
      readonly template: string;
      readonly reason: Reason;
    }
  | { readonly type: 'AddFinalizer' }
  | { readonly type: 'RemoveFinalizer' }
  | { readonly type: 'IssueIntermediate' }
  | { readonly type: 'IssueSidecarCertificate' }
  | NodeAction;

/** A command to one sidecar (rpc Command). */
export interface NodeAction {
  readonly type: 'CommandNode';
  readonly pod: string;
  readonly guard: NodeGuard;
  readonly command: NodeCommand;
  /** For log and event: why this is done. */
  readonly reason: Reason;
}

/** What must still be true, as Valkey itself says, in the moment of the effect. */
export interface NodeGuard {
  readonly podUid: string;
  readonly runId?: string;
  readonly nodeId?: string;
  readonly role?: 'primary' | 'replica';
  readonly primaryId?: string;
  readonly configEpoch?: number;
  readonly linkUp?: boolean;
  readonly minReplicationOffset?: number;
  readonly processState?: 'gated';
  /** Who must own these slots; an empty id: nobody. */
  readonly slotOwners?: readonly { readonly slots: string; readonly nodeId: string }[];
}

export type NodeCommand =
  | {
      readonly do: 'meet';
      readonly peers: readonly {
        readonly nodeId: string;
        readonly ip: string;
        readonly port: number;
        readonly busPort: number;
      }[];
    }
  | { readonly do: 'addSlots'; readonly slots: string }
  | { readonly do: 'replicate'; readonly primaryId: string }
  | { readonly do: 'failover'; readonly mode: 'coordinated' | 'force' | 'takeover' }
  | { readonly do: 'forget'; readonly nodeIds: readonly string[] }
  | { readonly do: 'reset'; readonly hard: boolean }
  | { readonly do: 'setConfig'; readonly settings: Readonly<Record<string, string>>; readonly hash: string }
  | {
      readonly do: 'moveSlots';
      readonly slots: string;
      readonly target: {
        readonly nodeId: string;
        readonly ip: string;
        readonly port: number;
        readonly busPort: number;
      };
      readonly method: 'atomic' | 'by-key';
      /** Atomic: the most keys that change hands at once. */
      readonly keysAtOnce: number;
    }
  | { readonly do: 'cancelMove' }
  | { readonly do: 'closeSlots'; readonly slots: string }
  | { readonly do: 'searchSlots'; readonly slots: string }
  | { readonly do: 'releaseGate'; readonly decision: 'keep-data' | 'discard-data' | 'new-node' };

/** What one look at a cluster leads to. */
export interface Plan {
  /** Carried out in order of stages: all of a stage at once, the next only after all of it succeeded. */
  readonly stages: readonly (readonly Action[])[];
  /** The whole status, as it should read; written only when it differs from what is there. */
  readonly status: NonNullable<ValkeyCluster['status']>;
  readonly detail: NonNullable<ValkeyClusterStatus['status']>;
  /** Of the ValkeyUpgrades that are not over. */
  readonly upgrades?: UpgradesOutcome['statuses'];
  /** Facts to tell people, once each; the recorder keeps repetitions away. */
  readonly events: readonly { readonly reason: Reason; readonly message: string }[];
  /** Operations that ended with this look. */
  readonly ended?: readonly EndedOrchestration[];
  /** Whether sessions to the sidecars are wanted: something is under way, so reports must be live. */
  readonly stayConnected: boolean;
  /** Look again after this long even if nothing is heard. */
  readonly wakeAfterMs?: number;
}

export interface EndedOrchestration {
  readonly id: string;
  readonly kind: OrchestrationKind;
  readonly outcome: 'Succeeded' | 'Cancelled' | 'Failed';
  readonly startedAtMs: number;
  readonly endedAtMs: number;
}

export type { Condition };
