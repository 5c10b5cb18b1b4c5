import { classifySetting, nearestSetting, versionOfImageTag } from '@valkey-operator/valkey';
import type { PlanView } from '../decision.ts';
import type { ClusterSnapshot, PodView, WaitingContainer } from '../snapshot.ts';
import { isFresh } from '../topology.ts';
import type { Finding } from './health.ts';
import { listNames } from './list-names.ts';
import { formatTime } from './time.ts';

export type Check = (pod: PodView, snapshot: ClusterSnapshot) => Finding | undefined;

/** What keeps pods from working that a person can see to, worst first; one finding per kind, however many pods have it. */
export function findPodProblems({ snapshot }: PlanView): Finding[] {
  const checks = [cannotPull, rejectsSettings, doesNotStart, isUnschedulable, isSilent];
  return checks.flatMap((check) => gather(check, snapshot) ?? []);
}

/** One finding for all pods that have it. */
export function gather(check: Check, snapshot: ClusterSnapshot): Finding | undefined {
  const affected = snapshot.pods
    .map((pod) => ({ pod, finding: check(pod, snapshot) }))
    .filter(({ finding }) => finding !== undefined);
  const [first, ...others] = affected;
  if (!first?.finding) return undefined;
  const also = others.length > 0 ? ` The same holds for ${listNames(others.map(({ pod }) => pod.name))}.` : '';
  return { ...first.finding, message: first.finding.message + also };
}

export const PULL_FAILURES: readonly string[] = [
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'RegistryUnavailable',
];
const START_FAILURES = [
  'CrashLoopBackOff',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
  'StartError',
];
/** A pod that has just been scheduled has not been heard yet, and nothing is wrong with that. */
const FIRST_WORD_MS = 60_000;

const cannotPull: Check = ({ name, waiting }) => {
  if (!waiting || !PULL_FAILURES.includes(waiting.reason)) return undefined;
  const field = waiting.container === 'valkey' ? 'spec.valkeyImage' : 'spec.sidecarImage';
  const why = `${waiting.reason}: ${waiting.message || 'no reason given'}`;
  return {
    reason: 'ImageUnavailable',
    message: `Pod ${name} cannot pull the image of its container ${waiting.container} (${why}). Check ${field} and its pull secrets.`,
  };
};

const doesNotStart: Check = ({ name, waiting, report }) => {
  if (!waiting || !START_FAILURES.includes(waiting.reason) || findFatalSetting(waiting.lastWords)) return undefined;
  if (waiting.container !== 'valkey' || report?.process.version || report?.config.message) {
    return {
      reason: 'WaitingForPods',
      message: `Container ${waiting.container} of pod ${name} keeps ending (${waiting.reason}). See kubectl logs ${name} -c ${waiting.container}.`,
    };
  }
  return {
    reason: 'ImageUnavailable',
    message: `Container valkey of pod ${name} does not start (${waiting.reason}: ${waiting.message}). spec.valkeyImage must be an image of Valkey 8.0 or later.`,
  };
};

const rejectsSettings: Check = ({ name, report, waiting }, { spec }) => {
  const gate = report?.process.gate;
  const message =
    findFatalSetting(waiting?.lastWords) ||
    report?.config.message ||
    (gate?.reason === 'CONFIGURATION_INVALID' ? gate.message : '');
  if (!message) return undefined;
  return {
    reason: 'ConfigRejected',
    message: `Valkey in pod ${name} refuses a setting: ${message}.${suggestSetting(message, spec.valkeyImage.tag)} Correct spec.config.`,
  };
};

/** For a name that this version does not have. */
function suggestSetting(refusal: string, tag: string): string {
  const version = versionOfImageTag(tag);
  const [name = ''] = refusal.split(' ');
  if (!version || classifySetting(version, name) !== 'unknown') return '';
  const nearest = nearestSetting(version, name);
  return nearest ? ` Did you mean ${nearest}?` : '';
}

/** Valkey ends on a setting that it refuses, and says in its last lines which one and why. */
export function findFatalSetting(lastWords = ''): string | undefined {
  const [, setting, why] = /FATAL CONFIG FILE ERROR[^]*?>>> '(.*)'\n(.*)/.exec(lastWords) ?? [];
  return setting && `${setting} (${why})`;
}

/** Why a pod will not start as it is. Its exporter is no part of that. */
export function findStuck({ waiting }: PodView): string | undefined {
  return describeStuck(waiting);
}

/** Why a container does not start, in the words of the kubelet and of what it printed last. */
export function describeStuck(waiting: WaitingContainer | undefined): string | undefined {
  if (!waiting || ![...PULL_FAILURES, ...START_FAILURES].includes(waiting.reason)) return undefined;
  const lastLine = waiting.lastWords?.split('\n').findLast((line) => /\w/.test(line));
  const words = [waiting.message, lastLine && `its last words were: ${lastLine}`].filter(Boolean).join('; ');
  return `container ${waiting.container} does not start (${waiting.reason}${words && `: ${words}`})`;
}

const isUnschedulable: Check = ({ name, unschedulable }) =>
  unschedulable ? { reason: 'Unschedulable', message: `No node takes pod ${name}: ${unschedulable}.` } : undefined;

const isSilent: Check = (pod, { now }) => {
  const { name, phase, report, createdAt } = pod;
  if (phase !== 'Running') return undefined;
  if (report ? isFresh(pod, now) : now - createdAt < FIRST_WORD_MS) return undefined;
  const since = report ? ` since ${formatTime(report.receivedAt)}` : '';
  return {
    reason: 'NodeUnreachable',
    message: `The sidecar of pod ${name} has not been heard${since}; what its Valkey does is not known, so nothing is done about it.`,
  };
};
