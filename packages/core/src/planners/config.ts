import type { Action } from '../actions.ts';
import { announcedSettings } from '../announced.ts';
import { type ConfigRefusal, findRefusal } from '../config-refusal.ts';
import { buildSettings, type NodeSettings, settingsInEffect, settingsOfNode } from '../builders/settings.ts';
import { type Decision, order, type PlanView, type Step } from '../decision.ts';
import { findWithdrawn } from '../orchestration/withdrawal.ts';
import { findAwaitedMemory } from '../roll/more-memory.ts';
import { describeSettingChanges } from '../setting-changes.ts';
import { listNames } from '../status/list-names.ts';
import { findStuck } from '../status/pod-problems.ts';
import type { Member } from '../topology.ts';
import { askTrial, planTrial, removeTrial, type SettingsChange } from './trial.ts';

/**
 * Settings of a running cluster (C5): tried on one node, then set on all, and only then kept for their next start. The
 * ConfigMap is what is in effect; as soon as one node refuses the new settings, the others go back to that.
 */
export function planConfig(view: PlanView): Decision | undefined {
  const settings = compareSettings(view);
  if (!settings) return undefined;
  const { wanted, inEffect, refusal } = settings;
  const isOver = wanted.hash === inEffect.hash || refusal || findWithdrawn(view.snapshot).has('Reconfigure');
  const decision = isOver
    ? (returnTo(view, inEffect, refusal) ?? awaitRecord(view))
    : moveOn(view, { wanted, inEffect });
  const undo = bringBack(view, inEffect);
  // A pod that does not start with what is in effect is waited for in vain: other settings may make it start.
  const unblocks = view.snapshot.pods.some(
    (pod) => pod.waiting?.container === 'valkey' && findStuck(pod) !== undefined,
  );
  return decision && { kind: 'Reconfigure', disruptive: false, unblocks, ...decision, ...(undo && { undo }) };
}

/**
 * What somebody has set by CONFIG SET (C6). A repair, for it may be the very reason why another one waits. Who has refused what
 * is in effect is left to planConfig, so that it holds up nothing else.
 */
export function planSettingDrift({ snapshot, topology }: PlanView): Decision | undefined {
  const inEffect = settingsInEffect(snapshot);
  if (!topology.formed || !inEffect) return undefined;
  const drifted = topology.members.filter(
    ({ report: { config } }) => (config.drift ?? []).length > 0 && config.rejected?.hash !== inEffect.hash,
  );
  if (drifted.length === 0) return undefined;
  return { kind: 'Heal', ...apply(drifted, inEffect, 'Puts back what was set by hand on', 'DriftRepaired') };
}

/** What a person has to correct. Last of all, for it stands in the way of nothing else. */
export function planRefusedConfig(view: PlanView): Decision | undefined {
  const refusal = findConfigRefusal(view);
  return refusal && { kind: 'Reconfigure', ...refusal, held: true };
}

export function findConfigRefusal(view: PlanView): ConfigRefusal | undefined {
  return compareSettings(view)?.refusal;
}

/**
 * The trial of settings that nobody wants any more, or that is over. A refused one is kept: it is what is known of them. So is
 * any as long as nobody was heard: an operator that has just started does not know yet what it is about.
 */
export function findSpentTrial(view: PlanView): Action[] {
  const { trial } = view.snapshot;
  const settings = compareSettings(view);
  const isWithdrawn = findWithdrawn(view.snapshot).has('Reconfigure');
  const isWanted = settings && !isWithdrawn && askTrial(view, settings) === trial?.asked;
  if (!trial || view.topology.members.length === 0) return [];
  const isOver = trial.verdict === 'void' || (trial.verdict === 'accepted' && settings?.refusal);
  return isWanted && !isOver ? [] : removeTrial(trial);
}

/** What the spec asks for, but for memory that the pods do not have yet. The other settings do not wait for that. */
function wantedSettings(view: PlanView): NodeSettings {
  const { snapshot } = view;
  const { spec } = snapshot;
  const awaited = findAwaitedMemory(view);
  const config = { ...spec.config, ...(awaited && { maxmemory: awaited.kept }) };
  return buildSettings({ ...spec, config }, announcedSettings(snapshot));
}

function compareSettings(view: PlanView) {
  const { snapshot, topology } = view;
  const inEffect = settingsInEffect(snapshot);
  if (!topology.formed || !inEffect) return undefined;
  const wanted = wantedSettings(view);
  const refusal =
    wanted.hash === inEffect.hash
      ? undefined
      : findRefusal({
          wanted,
          inEffect,
          spec: snapshot.spec,
          members: topology.members,
          trial: snapshot.trial?.asked === askTrial(view, { wanted, inEffect }) ? snapshot.trial : undefined,
        });
  return { wanted, inEffect, refusal };
}

/** Each takes a command or a write, and begins only when every node is well. */
const limits = { of: 3, timeoutMs: 5 * 60_000, onTimeout: 'rollBack' } as const;
/** As long as it takes: a quota or a node that is full is no fault of the settings. */
const PROVE: Step = { name: 'Prove on a pod of its own', number: 1, of: limits.of };
const TRY: Step = { name: 'Try on one node', number: 1, ...limits };
const APPLY: Step = { name: 'Apply on every node', number: 2, ...limits };
const KEEP: Step = { name: 'Keep for the next start', number: 3, ...limits };

function moveOn(view: PlanView, { wanted, inEffect }: SettingsChange): Decision {
  const { members } = view.topology;
  const trial = planTrial(view, { wanted, inEffect });
  if (trial) return { step: PROVE, ...trial };
  const changes = describeSettingChanges(inEffect, wanted);
  const others = members.filter(({ report }) => report.config.runningHash !== wanted.hash);
  if (others.length === members.length) {
    const [first] = others.toSorted((a, b) => Number(isPrimary(a)) - Number(isPrimary(b)));
    return { step: TRY, ...apply(first ? [first] : [], wanted, `Tries ${changes} on`) };
  }
  if (others.length > 0) return { step: APPLY, ...apply(others, wanted, `Sets ${changes} on`) };
  const message = `All ${members.length} nodes run with ${changes}.`;
  const events = [{ reason: 'Reconfiguring', message }] as const;
  return { step: KEEP, reason: 'Reconfiguring', message, settings: wanted, events };
}

/** Every pod has its memory, and with this look that is recorded: what waits for it is the rest of the same operation. */
function awaitRecord(view: PlanView): Decision | undefined {
  const { begun, changes, outdated } = view.roll;
  const isRecorded = !begun || changes.length === 0 || outdated.length > 0;
  const awaited = isRecorded ? undefined : findAwaitedMemory(view);
  return awaited && { reason: 'Reconfiguring', message: `Every pod has the memory for maxmemory ${awaited.wanted}.` };
}

/** Brings back who ran ahead, and who started with an older file. */
function returnTo(view: PlanView, inEffect: NodeSettings, refusal: ConfigRefusal | undefined): Decision | undefined {
  const back = bringBack(view, inEffect);
  if (back) return back;
  // What was refused once may be tried again when it is asked for again.
  const resentful = refusal ? [] : view.topology.members.filter(({ report }) => report.config.rejected !== undefined);
  return resentful.length > 0
    ? { step: APPLY, ...apply(resentful, inEffect, 'Confirms the settings in effect on') }
    : undefined;
}

function bringBack({ topology: { members } }: PlanView, inEffect: NodeSettings): Decision | undefined {
  const ahead = members.filter(({ report }) => report.config.runningHash !== inEffect.hash);
  return ahead.length > 0 ? { step: APPLY, ...apply(ahead, inEffect, 'Sets the settings in effect on') } : undefined;
}

function apply(
  members: readonly Member[],
  settings: NodeSettings,
  what: string,
  reason: 'Reconfiguring' | 'DriftRepaired' = 'Reconfiguring',
): Decision {
  const message = `${what} ${listNames(members.map(({ pod }) => pod.name))}.`;
  // Commands go through sessions; the plan asks for them, and the next look finds them open.
  if (!members.every(({ report }) => report.live)) return { reason, message };
  const commands = members.map((member) => {
    const command = {
      do: 'setConfig',
      settings: settingsOfNode(settings, member.pod.name),
      hash: settings.hash,
    } as const;
    return order(member, command, reason);
  });
  return { reason, message, stages: [commands] };
}

function isPrimary({ cluster }: Member): boolean {
  return cluster.role === 'primary';
}
