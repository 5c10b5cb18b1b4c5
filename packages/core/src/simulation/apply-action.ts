import { SlotSet } from '@valkey-operator/valkey';
import type { Action, NodeAction } from '../actions.ts';
import { annotations } from '@valkey-operator/api';
import { parseParts } from '../builders/template-parts.ts';
import type { CertificateView, ChildObject } from '../snapshot.ts';
import { runCommand } from './run-command.ts';
import type { SimulatedCluster } from './simulated-cluster.ts';
import { isRunning, memoryOf } from './simulated-pod.ts';

/** Whether it succeeded. */
export function applyAction(cluster: SimulatedCluster, action: Action): boolean {
  switch (action.type) {
    case 'ApplyChild': {
      const key = `${action.object.kind}/${action.object.metadata.name}`;
      if (!cluster.refusals.take(action.object, cluster.now)) return false;
      if (action.object.kind === 'Pod') return trialsOf(cluster, action.object).begin(action.object, cluster.now);
      const metadata = { ...action.object.metadata, uid: `uid of ${key}` };
      cluster.children.set(key, { ...cluster.children.get(key), ...action.object, metadata });
      return true;
    }
    case 'DeleteChild':
      if (cluster.trials.end(action.uid) || cluster.imageTrials.end(action.uid)) return true;
      return cluster.children.delete(`${action.kind}/${action.name}`);
    case 'DeleteClaim':
      return cluster.volumes.delete(ordinalOf(action.claim));
    case 'GrowClaim':
      cluster.volume(ordinalOf(action.claim)).storage = action.storage;
      return true;
    case 'DeletePod':
      // Without a volume of its own the data is in the pod.
      cluster.losePod(ordinalOf(action.pod), { volume: !cluster.spec.pvc });
      return true;
    case 'ResizePod': {
      const pod = cluster.pods.find(({ uid }) => uid === action.uid);
      const refused = `${parseParts(action.template)['resources']} requests cannot be removed`;
      if (pod && cluster.refusesResize) pod.annotations[annotations.resizeRefused] = refused;
      else if (pod) {
        const resize = { memory: memoryOf(action.resources), resize: 'told' } as const;
        Object.assign(pod, resize).annotations[annotations.template] = action.template;
      }
      return pod !== undefined;
    }
    case 'LabelPod': {
      const pod = cluster.pods.find(({ uid }) => uid === action.uid);
      if (pod) pod.labels = merge(pod.labels, action.labels);
      if (pod) Object.assign(pod.annotations, merge({}, action.annotations ?? {}));
      return pod !== undefined;
    }
    case 'AddFinalizer':
      return setFinalizers(cluster, ['valkey.io/finalizer']);
    case 'RemoveFinalizer':
      return setFinalizers(cluster, []);
    case 'IssueIntermediate':
      cluster.certificates = {
        ...cluster.certificates,
        intermediate: issue(cluster.names.intermediateSecret, cluster.now),
      };
      return true;
    case 'IssueSidecarCertificate':
      cluster.certificates = { ...cluster.certificates, sidecar: issue(cluster.names.sidecarSecret, cluster.now) };
      return true;
    case 'CommandNode':
      return command(cluster, action);
  }
}

function trialsOf({ trials, imageTrials, names }: SimulatedCluster, { metadata }: ChildObject) {
  return metadata.name === names.trial ? trials : imageTrials;
}

function command(cluster: SimulatedCluster, action: NodeAction): boolean {
  const pod = cluster.pods.find(({ uid }) => uid === action.guard.podUid);
  if (!pod?.heard) return false;
  if (action.command.do !== 'releaseGate') return isRunning(pod) && runCommand(cluster, pod, action);
  if (pod.process !== 'gated') return false;
  const { decision } = action.command;
  const volume = cluster.volume(pod.ordinal);
  if (decision === 'new-node') volume.identity = undefined;
  if (decision !== 'keep-data') volume.data = SlotSet.empty;
  cluster.boot(pod);
  return true;
}

/** As a merge patch does. */
function merge(present: Readonly<Record<string, string>>, patch: Readonly<Record<string, string | null>>) {
  const merged = Object.entries({ ...present, ...patch }).filter(([, value]) => value !== null);
  return Object.fromEntries(merged) as Record<string, string>;
}

function setFinalizers(cluster: SimulatedCluster, finalizers: string[]): boolean {
  cluster.cluster = { ...cluster.cluster, metadata: { ...cluster.cluster.metadata, finalizers } };
  return true;
}

function issue(secret: string, now: number): CertificateView {
  const life = 365 * 24 * 3_600_000;
  return { secret, thumbprint: secret, notBefore: now, notAfter: now + life, renewAt: now + life * 0.7 };
}

function ordinalOf(name: string): number {
  return Number(name.split('-').at(-1));
}
