import { annotations } from '@valkey-operator/api';
import type { Action } from '../actions.ts';
import { settingsInEffect } from '../builders/settings.ts';
import { formatImage } from '../builders/template-parts.ts';
import { buildImageTrialPod } from '../builders/trial-pod.ts';
import type { Decision, PlanView } from '../decision.ts';
import { askImage, isUnproven, refuseImage } from '../roll/image-proof.ts';
import { awaitTrial, removeTrial } from './trial.ts';

const OVERRIDE = `To do without, annotate the cluster with ${annotations.allowUnknownVersion}=true: then one replica shows what it is.`;

/**
 * Before the first pod is replaced for another image, that shows on a pod of its own that it can be had, that it is a Valkey, which one,
 * and that this takes the settings in effect (C4, I5): a slip of the pen costs no replica.
 */
export function planImageTrial(view: PlanView): Decision | undefined {
  const { cluster, imageTrial: trial } = view.snapshot;
  const asked = askImage(view);
  const settings = settingsInEffect(view.snapshot);
  if (asked === undefined || settings === undefined) return undefined;
  if (!isUnproven(view)) return undefined;
  const message = `Starts ${formatImage(view.roll.target.valkeyImage)} without data on a pod of its own, to see which Valkey it is.`;
  const object = buildImageTrialPod(cluster, view.roll.target, settings);
  const next = awaitTrial(view, { trial, object, message, reason: 'OrchestrationStarted' });
  return next.held ? { ...next, message: `${next.message} ${OVERRIDE}` } : next;
}

/** What a person has to correct, or a registry. The roll has come to nothing before it took a pod. */
export function planRefusedImage(view: PlanView): Decision | undefined {
  const message = refuseImage(view);
  return message === undefined ? undefined : { kind: view.roll.kind, reason: 'ImageUnavailable', message, held: true };
}

/** The trial of an image that nobody asks for any more, or that has said nothing. A refused one is kept: it is what is known of it. */
export function findSpentImageTrial(view: PlanView): Action[] {
  const { imageTrial: trial } = view.snapshot;
  if (!trial || view.topology.members.length === 0) return [];
  const isWanted = trial.asked === askImage(view) && trial.verdict !== 'void';
  return isWanted ? [] : removeTrial(trial);
}
