import { annotations, type Reason } from '@valkey-operator/api';
import { classifySetting, parseVersion } from '@valkey-operator/valkey';
import type { Action } from '../actions.ts';
import type { NodeSettings } from '../builders/settings.ts';
import { buildTrialPod, nameTrial } from '../builders/trial-pod.ts';
import type { Decision, PlanView } from '../decision.ts';
import { RETRY_MS } from '../drift.ts';
import type { ChildObject, TrialView } from '../snapshot.ts';

/** Settings as they are, and as they shall be. */
export interface SettingsChange {
  readonly wanted: NodeSettings;
  readonly inEffect: NodeSettings;
}

/**
 * No running node can try what only a start of Valkey reads (C5). So a Valkey of its own is started with it, and a node hears of
 * the settings only when that one lives.
 */
export function planTrial(view: PlanView, change: SettingsChange): Decision | undefined {
  const { cluster, trial } = view.snapshot;
  const asked = askTrial(view, change);
  if (asked === undefined || (trial?.asked === asked && trial.verdict === 'accepted')) return undefined;
  const message = `Starts a Valkey without data with ${listRestartOnly(view, change).join(', ')} as wanted, to see whether it takes that.`;
  const object = buildTrialPod(cluster, view.roll.good, change.wanted);
  return awaitTrial(view, { trial, object, message, reason: 'Reconfiguring' });
}

interface Awaited {
  readonly trial: TrialView | undefined;
  readonly object: ChildObject;
  readonly message: string;
  readonly reason: Reason;
}

/** What keeps it from starting, or from being made, may last: then it waits, and holds up nothing else. */
export function awaitTrial({ snapshot }: PlanView, { trial, object, message, reason }: Awaited): Decision {
  if (trial?.message) return { reason: 'WaitingForPods', message: `${message} ${trial.message}`, held: true };
  if (trial) return { reason, message };
  const stages: Decision['stages'] = [[{ type: 'ApplyChild', object }]];
  const asked = object.metadata.annotations?.[annotations.applied];
  const refusal = snapshot.refusals?.find(
    ({ child, wish }) => child === `Pod ${object.metadata.name}` && wish === asked,
  );
  if (!refusal) return { reason, message, stages };
  const isDue = snapshot.now - refusal.lastAt >= RETRY_MS;
  const told = `${message} The API server refuses ${refusal.child}: ${refusal.message}.`;
  return { reason: 'ChildRefused', message: told, held: true, ...(isDue && { stages }) };
}

export function removeTrial({ name, uid, deletionTimestamp }: TrialView): Action[] {
  return deletionTimestamp === undefined ? [{ type: 'DeleteChild', apiVersion: 'v1', kind: 'Pod', name, uid }] : [];
}

/** Which trial these settings need; none when nothing of them takes a start, or when a node has them already. */
export function askTrial(view: PlanView, change: SettingsChange): string | undefined {
  const { members } = view.topology;
  const isKnown = members.some(({ report }) => report.config.runningHash === change.wanted.hash);
  if (isKnown || listRestartOnly(view, change).length === 0) return undefined;
  return nameTrial(change.wanted, view.roll.good);
}

function listRestartOnly({ topology }: PlanView, { wanted, inEffect }: SettingsChange): string[] {
  const versions = topology.members.flatMap(({ report }) => parseVersion(report.process.version ?? '') ?? []);
  return Object.entries(wanted.settings)
    .filter(([name, value]) => inEffect.settings[name] !== value)
    .map(([name]) => name)
    .filter((name) => versions.some((version) => classifySetting(version, name) === 'immutable'));
}
