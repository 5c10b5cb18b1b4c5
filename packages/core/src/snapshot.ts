import type { EffectiveClusterSpec, ValkeyCluster, ValkeyUpgrade } from '@valkey-operator/api';

/**
 * Everything the planner may know of one cluster at one moment, gathered by the operator and never changed. What is not
 * known is undefined, and undefined is never taken for "no": without proof that an action is safe the planner waits.
 */
export interface ClusterSnapshot {
  /** Milliseconds since the epoch. The planner has no clock of its own. */
  readonly now: number;
  readonly cluster: ValkeyCluster;
  /** The spec with all defaults applied, and with the image that a ValkeyUpgrade has put into effect. */
  readonly spec: EffectiveClusterSpec;
  /** The image before that. */
  readonly writtenImage?: string;
  /** The ValkeyUpgrades that name this cluster, also those that are over. */
  readonly upgrades?: readonly ValkeyUpgrade[];
  readonly operator: OperatorView;
  /** Objects that the operator made for this cluster, or that bear the names it needs, as the API server has them. */
  readonly children: readonly ChildObject[];
  readonly pods: readonly PodView[];
  readonly claims: readonly ClaimView[];
  /** The Kubernetes nodes, for placing and for proving that a node is gone. */
  readonly kubernetesNodes: readonly KubernetesNodeView[];
  readonly certificates: CertificatesView;
  /** What of the last plan did not come about, in the words of who refused it. */
  readonly failures?: readonly string[];
  /** Children that were put back of late. */
  readonly repairs?: readonly RepairView[];
  /** Children that the API server refused the last time they were written. */
  readonly refusals?: readonly RefusalView[];
  /** The pod on which settings for the next start are proven, while there is one. */
  readonly trial?: TrialView;
  /** The pod on which an image is proven, while there is one. */
  readonly imageTrial?: TrialView;
}

export interface TrialView {
  readonly name: string;
  readonly uid: string;
  readonly createdAt: number;
  /** What is proven: settings and image. */
  readonly asked: string;
  /** `void`: it ended for another reason, such as a drained node, and has said nothing. */
  readonly verdict: 'unknown' | 'accepted' | 'refused' | 'void';
  /** Its image cannot be had, or its container not made. */
  readonly stuck?: boolean;
  /** Which Valkey the image holds, by its own word. */
  readonly version?: string;
  /** Why it was refused, in Valkey's words, or what it waits for. */
  readonly message: string;
  readonly deletionTimestamp?: string;
}

export interface RefusalView {
  /** Kind and name. */
  readonly child: string;
  /** The digest of what was refused: what is wished otherwise by now may be taken. */
  readonly wish: string;
  /** The words of the API server. */
  readonly message: string;
  readonly lastAt: number;
}

export interface RepairView {
  /** Kind and name. */
  readonly child: string;
  readonly count: number;
  readonly lastAt: number;
}

export interface OperatorView {
  /** Which term as leader this is. */
  readonly term?: number;
  /** When this term began: nobody was heard before. */
  readonly since?: number;
  readonly version: string;
  readonly namespace: string;
  readonly trustDomain: string;
}

/** An object as the API server returns it; the planner compares it with what it would build. */
export interface ChildObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly {
      readonly uid: string;
      readonly kind: string;
      readonly name: string;
      readonly controller?: boolean;
    }[];
    readonly deletionTimestamp?: string;
  };
  readonly [field: string]: unknown;
}

export interface PodView {
  readonly name: string;
  readonly uid: string;
  readonly ordinal: number;
  readonly ip?: string;
  readonly kubernetesNode?: string;
  readonly zone?: string;
  readonly phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
  /** By the word of its kubelet, whatever its exporter does. */
  readonly ready: boolean;
  /** When it became ready, or ceased to be: Kubernetes remembers that, whoever reads it. Undefined until a kubelet has said so. */
  readonly readyChangedAt?: number;
  readonly createdAt: number;
  readonly deletionTimestamp?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly finalizers: readonly string[];
  /** Why it is not scheduled, in the scheduler's words. */
  readonly unschedulable?: string;
  /** Why Valkey or the sidecar waits. */
  readonly waiting?: WaitingContainer;
  /** None in a pod that was made without one. */
  readonly exporter?: ExporterView;
  /** It was promised other resources, and its kubelet has yet to give them. */
  readonly resizing?: boolean;
  /** Why other resources cannot be given to it where it is, in the kubelet's words. */
  readonly resizePending?: string;
  readonly valkeyRestarts: number;
  /** What its sidecar said last; undefined when it has not been heard since the pod was made. */
  readonly report?: NodeView;
}

export interface WaitingContainer {
  readonly container: string;
  /** ImagePullBackOff, CrashLoopBackOff, CreateContainerConfigError, ... */
  readonly reason: string;
  readonly message: string;
  /** The end of what it printed before it ended last. */
  readonly lastWords?: string;
}

/** Kept apart from the rest of its pod: no decision on a Valkey is made because of it. */
export interface ExporterView {
  /** It has said that it is up, and runs. */
  readonly ready: boolean;
  readonly restarts: number;
  /** When it was started last, by the clock of its Kubernetes node. */
  readonly startedAt?: number;
  /** Since when the pod as a whole is not ready. */
  readonly unreadySince?: number;
  readonly waiting?: WaitingContainer;
}

/** The digest of a sidecar's report that decisions are made on (rpc NodeReport, in plain values). */
export interface NodeView {
  /** When the operator received it; ages are measured with the operator's clock alone. */
  readonly receivedAt: number;
  /** Whether a session is open, so that the report is as good as live. */
  readonly live: boolean;
  readonly process: {
    readonly state:
      | 'absent'
      | 'gated'
      | 'starting'
      | 'loading'
      | 'running'
      | 'unresponsive'
      | 'stopping'
      | 'exited'
      | 'unknown';
    readonly gate?: { readonly reason: string; readonly message: string; readonly since: number };
    readonly version?: string;
    readonly runId?: string;
    /** By the clock of its Kubernetes node. */
    readonly startedAt?: number;
    readonly restarts: number;
  };
  /** Undefined while Valkey does not answer. */
  readonly cluster?: NodeClusterView;
  readonly replication?: {
    readonly offset: number;
    readonly linkUp: boolean;
    readonly syncInProgress: boolean;
    readonly syncedOnce: boolean;
  };
  readonly memory?: {
    readonly usedBytes: number;
    readonly maxBytes: number;
    readonly keys: number;
    /** Hashes whose fields have a time to live of their own. */
    readonly expiringHashes?: number;
  };
  /** It writes its append-only file anew, or for the first time: then nothing is on its volume until that is done. */
  readonly rewritesFile?: boolean;
  /** The last move of slots away from this node that its sidecar was ordered to make. */
  readonly move?: SlotMoveView;
  readonly config: NodeConfigView;
  readonly dataState: 'empty' | 'identity-only' | 'present' | 'unknown';
  readonly certificate?: { readonly thumbprint: string; readonly notAfter: number };
  readonly ready: boolean;
  readonly message: string;
}

export interface NodeConfigView {
  /** Of the settings that Valkey runs with, and of those that its next start would read. */
  readonly runningHash: string;
  readonly renderedHash: string;
  readonly message: string;
  /** Settings whose new value waits for a restart of Valkey. */
  readonly restartFor?: readonly string[];
  /** Settings that somebody else has changed since they were put into effect. */
  readonly drift?: readonly { readonly name: string; readonly is: string; readonly should: string }[];
  /** The settings that Valkey refused last, and its words for it. */
  readonly rejected?: { readonly hash: string; readonly message: string };
}

export interface NodeClusterView {
  readonly nodeId: string;
  readonly shardId: string;
  readonly role: 'primary' | 'replica';
  /** Of a replica. */
  readonly primaryId?: string;
  readonly configEpoch: number;
  readonly currentEpoch: number;
  readonly stateOk: boolean;
  /** Own slots, as CLUSTER NODES writes them. */
  readonly slots: string;
  readonly slotsAssigned: number;
  readonly slotsOk: number;
  readonly nodes: readonly KnownNodeView[];
  readonly openSlots: readonly {
    readonly slot: number;
    readonly importingFrom?: string;
    readonly migratingTo?: string;
  }[];
  /** Slots that were lately searched for keys, and those of them in which there are some. */
  readonly search?: { readonly slots: string; readonly withKeys: string };
  /** Atomic migrations that start at this node and have not ended, whoever began them. */
  readonly exports?: readonly { readonly slots: string; readonly targetId: string }[];
}

export interface SlotMoveView {
  readonly state: 'running' | 'done' | 'failed' | 'cancelled' | 'unknown';
  readonly targetId: string;
  /** Still to be moved. */
  readonly slots: string;
  readonly movedSlots: number;
  readonly movedKeys: number;
  readonly leftKeys: number;
  readonly elapsedMs: number;
  /** Since its end. */
  readonly overForMs?: number;
  /** In a row. The sidecar waits the longer the more there were. */
  readonly failures: number;
  readonly message: string;
  readonly notableKeys: readonly string[];
}

/** A line of CLUSTER NODES, as this one node sees it. */
export interface KnownNodeView {
  readonly id: string;
  readonly ip: string;
  readonly port: number;
  /** As announced, `<pod>.<service>.<namespace>.svc`: tells whose node it is after its address has changed. */
  readonly hostname?: string;
  /** What clients are told in place of `ip`. */
  readonly clientIp?: string;
  readonly flags: readonly string[];
  readonly primaryId?: string;
  readonly configEpoch: number;
  readonly linkConnected: boolean;
  readonly slots: string;
}

export interface ClaimView {
  readonly name: string;
  readonly uid: string;
  readonly ordinal: number;
  readonly storage: string;
  readonly capacity?: string;
  readonly storageClass?: string;
  /** Whether its class lets it grow; only looked up when it is smaller than the spec asks. */
  readonly expandable?: boolean;
  /** What its growth waits for, in the words of who does it. */
  readonly resizing?: string;
  readonly phase: 'Pending' | 'Bound' | 'Lost';
  readonly deletionTimestamp?: string;
}

export interface KubernetesNodeView {
  readonly name: string;
  readonly zone?: string;
  readonly ready: boolean;
  /** A person or an autoscaler wants it empty, or at least no fuller. */
  readonly cordoned?: boolean;
  /** Where it is reached from outside, if it has such an address, else from within its network. */
  readonly address?: string;
}

/** What is in use and when it has to be renewed; undefined where it does not exist yet. */
export interface CertificatesView {
  readonly intermediate?: CertificateView;
  readonly sidecar?: CertificateView;
}

export interface CertificateView {
  readonly secret: string;
  readonly thumbprint: string;
  readonly notBefore: number;
  readonly notAfter: number;
  /** When to issue the next one; the operator spreads this time, so that not all clusters renew at once. */
  readonly renewAt: number;
}
