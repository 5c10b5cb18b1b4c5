import type { Action } from '../actions.ts';
import { formatParts, templateParts } from '../builders/template-parts.ts';
import type { Decision, PlanView, Step } from '../decision.ts';
import { awaitExporters } from '../roll/exporter-gate.ts';
import { rollPolicy } from '../roll/failure.ts';
import { refuseImage } from '../roll/image-proof.ts';
import { findSqueeze } from '../roll/less-memory.ts';
import { describeGap, foreseeLoss, refuseGap } from '../roll/lone-shards.ts';
import { describeAwaitedMemory } from '../roll/more-memory.ts';
import { describeChanges, type OutdatedPod, type Roll } from '../roll/roll.ts';
import { refuseStep, refuseVersion } from '../roll/version-step.ts';
import { isServing } from '../status/health.ts';
import { listNames } from '../status/list-names.ts';
import { type Member, type Shard } from '../topology.ts';
import { findConfigRefusal } from './config.ts';
import { listHeirs, orderHandover } from './hand-over.ts';
import { planImageTrial } from './image-trial.ts';
import { cancelMoves, findRunningMoves } from './slot-moves.ts';
import { UNHEARD } from './unheard.ts';

/**
 * Brings every pod to the template that the spec asks for (C4). Runs only while the cluster is whole, so each step's health
 * gate is that the next plan gets here at all: one pod is away at a time, and the first replica that is replaced is the
 * canary. A primary hands over before it goes, so it is replaced as the replica that it then is.
 */
export function planRoll(view: PlanView): Decision | undefined {
  const { roll } = view;
  if (roll.outdated.length === 0 && (roll.begun || roll.changes.length === 0)) return undefined;
  const wish = awaitLessMemory(view) ?? (roll.begun ? replaceNext(view, roll) : begin(view, roll));
  if (!wish) return undefined;
  const next = letSlotsRest(view, wish);
  // What it waits for is part of it: a step that began with a wait outside a maintenance window would go on there.
  const disruptive = next.disruptive ?? !(next.held || isGentle(roll));
  const name = next.reason === 'PodResized' || isGentle(roll) ? 'Resize pods' : 'Replace pods';
  const step = next.step ?? { ...progressOf(view, roll), name };
  const message = next.message + describeAwaitedMemory(view);
  const decision = { ...next, message, disruptive, kind: roll.kind, step };
  return roll.withdrawn ? { ...decision, undo: decision } : decision;
}

/** Slots may be on their way though no size changes: to where they belong, or from shards that could all the same. */
function letSlotsRest({ topology }: PlanView, wish: Decision): Decision {
  const moving = wish.disruptive ? findRunningMoves(topology) : [];
  return moving.length > 0 ? { ...cancelMoves(moving, 'rests while pods are replaced'), disruptive: true } : wish;
}

/** Held, so that whoever makes the nodes use less goes before it. */
function awaitLessMemory(view: PlanView): Decision | undefined {
  const squeeze = findSqueeze(view);
  if (!squeeze) return undefined;
  const { maxmemory, wanted, limit } = squeeze;
  const refusal = findConfigRefusal(view);
  const message = `No pod gets the memory limit ${limit} before maxmemory, which is ${maxmemory}, is ${wanted}.`;
  if (!refusal) return { reason: 'Reconfiguring', message, held: true };
  return { reason: refusal.reason, message: `${refusal.message} ${message}`, held: true };
}

/** As long as it takes: a node or a registry may be busy. */
const PROVE: Step = { name: 'Prove the image on a pod of its own', number: 1, of: 1 };

/** From here on Kubernetes makes pods of the new template. Nothing is touched yet. */
function begin(view: PlanView, roll: Roll): Decision | undefined {
  if (!view.topology.allKnown) return UNHEARD;
  if (leadsBack(roll)) {
    const parts = [...new Set(roll.outdated.flatMap(({ changes }) => changes))];
    const message = `Pods that were changed go back to what was in effect: ${describeChanges(roll, parts)}.`;
    return { reason: 'OrchestrationStarted', message, beginRoll: true };
  }
  const refusal = refuseVersion(view, roll.target);
  if (refusal) return { reason: 'InvalidSpec', message: refusal, held: true };
  const gap = isGentle(roll) ? undefined : refuseGap(view);
  if (gap) return gap;
  // It is told as a remark.
  if (refuseImage(view) !== undefined) return undefined;
  const proof = planImageTrial(view);
  if (proof) return { ...proof, step: PROVE };
  const how = isGentle(roll) ? 'Every pod is changed while it runs' : 'Every pod is replaced, one at a time';
  const message = `${how}: ${describeChanges(roll, roll.changes)}.${isGentle(roll) ? '' : describeGap(view)}`;
  return { reason: 'OrchestrationStarted', message, beginRoll: true };
}

/** It failed, was cancelled, or the spec says again what it said before: what all pods were made of needs nobody's leave. */
function leadsBack({ changes, outdated }: Roll): boolean {
  return changes.length === 0 && outdated.some((each) => each.changes.length > 0);
}

function isGentle({ outdated }: Roll): boolean {
  return outdated.every(({ inPlace }) => inPlace);
}

function replaceNext(view: PlanView, roll: Roll): Decision | undefined {
  if (roll.outdated.length === 0) return undefined;
  const resized = resize(view, roll);
  if (resized) return resized;
  const leaving = view.snapshot.pods.find(({ deletionTimestamp }) => deletionTimestamp !== undefined);
  if (leaving) return { reason: 'WaitingForPods', message: `Pod ${leaving.name} is going.` };
  if (!view.topology.allKnown) return UNHEARD;
  const unready = awaitReplicas(view) ?? (leadsBack(roll) ? undefined : awaitExporters(view));
  if (unready) return unready;
  const shard = chooseShard(view, roll);
  if (shard === undefined) return replaceStranger(roll);
  const isOtherValkey = roll.outdated.some(({ changes }) => changes.includes('valkey'));
  const misfit = isOtherValkey ? refuseStep(view, roll.target) : undefined;
  if (misfit) return { reason: 'InvalidSpec', message: misfit, held: true };
  const replica = nextReplica(roll, shard);
  if (replica) return replace(roll, replica.pod, `a replica of ${shard.primary.pod.name}`);
  if (shard.replicas.length > 0) return handOver(shard);
  return refuseGap(view) ?? replaceLone(view, roll, shard);
}

/** While fewer replicas are wanted than there are, the cluster counts as whole without some; but each that copies may be the last. */
function awaitReplicas({ topology: { shards } }: PlanView): Decision | undefined {
  const lagging = shards.flatMap(({ replicas }) => replicas.filter((replica) => !isServing(replica)));
  if (lagging.length === 0) return undefined;
  const message = `${listNames(lagging.map(({ pod }) => pod.name))} must be in sync before the next pod is replaced.`;
  return { reason: 'WaitingForSync', message };
}

function replaceLone(view: PlanView, roll: Roll, shard: Shard): Decision {
  const { primary, slots } = shard;
  if (primary.report.rewritesFile) {
    const message = `${primary.pod.name} writes its append-only file, and is not replaced before that has its data.`;
    return { reason: 'WaitingForSync', message };
  }
  const loss = foreseeLoss(view, [shard]);
  const price = loss ? ` (${loss.what})` : ', which are not served meanwhile';
  return replace(roll, primary.pod, `the only one of slots ${slots.toString()}${price}`);
}

/**
 * No process stops for it, so all at once, when one has shown that it can be done: the API server takes more than a node has.
 * Whoever cannot take it says so, and is then replaced like any other.
 */
function resize(view: PlanView, roll: Roll): Decision | undefined {
  const { snapshot } = view;
  const { outdated, target } = roll;
  const told = outdated.filter(({ isResizing }) => isResizing);
  if (told.length > 0) {
    const message = `Waiting until ${listNames(told.map(({ pod }) => pod.name))} ${told.length === 1 ? 'has its' : 'have their'} new resources.`;
    return { reason: 'PodResized', message, disruptive: false };
  }
  const able = outdated.filter(({ inPlace, pod }) => inPlace && !pod.deletionTimestamp);
  const isProven = outdated.length < snapshot.pods.length;
  const chosen = isProven ? able : able.filter(({ pod }) => pod === findCanary(view, roll));
  if (chosen.length === 0) return undefined;
  const template = formatParts(templateParts(snapshot.cluster, target));
  const actions = chosen.map(({ pod }): Action => {
    const { name, uid } = pod;
    return { type: 'ResizePod', pod: name, uid, resources: target.resources, template, reason: 'PodResized' };
  });
  const names = listNames(chosen.map(({ pod }) => pod.name));
  const message = `${names} ${chosen.length === 1 ? 'gets its new resources while it runs' : 'get their new resources while they run'}.`;
  const events = [{ reason: 'PodResized', message }] as const;
  return { reason: 'PodResized', message, disruptive: false, stages: [actions], events };
}

/** Who is first: were it replaced in the end, then as the first too. */
function findCanary(view: PlanView, roll: Roll): OutdatedPod['pod'] | undefined {
  const shard = chooseShard(view, roll);
  return shard && (nextReplica(roll, shard) ?? shard.primary).pod;
}

function nextReplica(roll: Roll, { replicas }: Shard): Member | undefined {
  return replicas.filter((each) => isOutdated(roll, each)).toSorted((a, b) => b.pod.ordinal - a.pod.ordinal)[0];
}

/** The one that is under way, else the first that has an outdated pod. */
function chooseShard({ topology: { shards } }: PlanView, roll: Roll): Shard | undefined {
  const count = ({ primary, replicas }: Shard) =>
    [primary, ...replicas].filter((each) => isOutdated(roll, each)).length;
  const open = shards.filter((shard) => count(shard) > 0);
  return open.find((shard) => count(shard) <= shard.replicas.length) ?? open[0];
}

function isOutdated({ outdated }: Roll, member: Member): boolean {
  return outdated.some(({ pod }) => pod === member.pod);
}

/** The budget is opened for this one pod in the stage before. */
function replace(roll: Roll, pod: OutdatedPod['pod'], what: string): Decision {
  const { changes = [], obstacle } = roll.outdated.find((each) => each.pod === pod) ?? {};
  const back = leadsBack(roll) ? ', back to what was in effect' : '';
  const why = obstacle ? `, which it cannot get while it runs (${obstacle})` : '';
  const message = `Pod ${pod.name}, ${what}, is replaced${back}: ${describeChanges(roll, changes)}${why}.`;
  const action: Action = { type: 'DeletePod', pod: pod.name, uid: pod.uid, reason: 'PodReplaced' };
  return {
    reason: 'PodReplaced',
    message,
    disruptive: true,
    stages: [[], [action]],
    events: [{ reason: 'PodReplaced', message }],
  };
}

/** In agreement with the old primary, to a replica that is of the new template already: no write is lost. */
function handOver({ primary, replicas }: Shard): Decision {
  const [heir] = listHeirs(primary, replicas);
  if (heir === undefined) {
    const message = `${primary.pod.name} has no replica in sync that could take over, so it is not replaced.`;
    return { reason: 'WaitingForSync', message };
  }
  return orderHandover(primary, heir, `${heir.pod.name} takes over from ${primary.pod.name}, which is replaced next.`);
}

/** A pod that is of no shard: nobody misses it. */
function replaceStranger(roll: Roll): Decision | undefined {
  const [first] = roll.outdated;
  return first && replace(roll, first.pod, 'of no shard');
}

/** A pod that does not become what it should is a failure of the roll well before; this is for what nobody has thought of. */
function progressOf(view: PlanView, { outdated }: Roll): Omit<Step, 'name'> {
  const { pods } = view.snapshot;
  const done = pods.length - outdated.length;
  const { readyMs, syncMs } = rollPolicy(view);
  return {
    number: Math.min(done + 1, pods.length),
    of: pods.length,
    timeoutMs: readyMs + syncMs,
    onTimeout: 'hold',
  };
}
