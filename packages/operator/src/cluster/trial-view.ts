import { annotations, labels } from '@valkey-operator/api';
import { findFatalSetting, findStuck, readVersionTold, TRIAL, type TrialView } from '@valkey-operator/core';
import type { Live, Pod } from '@valkey-operator/kube';
import { viewPod, withoutUndefined } from './pod-view.ts';

/** It was told to end: asked, by SIGTERM or by SIGKILL. */
const TOLD_TO_END: ReadonlySet<number> = new Set([0, 143, 137]);
/** The runtime found nothing in the image that it could start. Whatever else keeps it from that may pass. */
const NO_VALKEY = /executable file not found|no such file or directory|exec format error|permission denied/;

export function isTrial({ metadata }: Live<Pod>): boolean {
  return metadata.labels?.[labels.component] === TRIAL;
}

/** What a Valkey has said to what it was started with. One that lives when its kubelet asks for the first time has taken it. */
export function viewTrial(pod: Live<Pod>): TrialView {
  const { name, uid, creationTimestamp = '', deletionTimestamp, annotations: own } = pod.metadata;
  const asked = own?.[annotations.applied] ?? '';
  const createdAt = Date.parse(creationTimestamp);
  const view = { name, uid, createdAt, asked, ...withoutUndefined({ deletionTimestamp }) };
  const [container] = pod.status?.containerStatuses ?? [];
  const ended = container?.state?.terminated;
  if (ended) return { ...view, ...judgeEnd(ended) };
  if (pod.status?.phase === 'Failed') return { ...view, ...SAID_NOTHING };
  const { unschedulable, ...rest } = viewPod(pod, { zones: new Map() });
  const stuck = findStuck(rest);
  const verdict = hasSurvived(pod) ? 'accepted' : 'unknown';
  return { ...view, verdict, message: unschedulable ?? stuck ?? '', ...(stuck !== undefined && { stuck: true }) };
}

/** Without a probe, a container that has begun a moment ago is ready too. */
function hasSurvived({ spec, status }: Live<Pod>): boolean {
  return spec?.containers[0]?.readinessProbe !== undefined && status?.containerStatuses?.[0]?.ready === true;
}

type Words = Pick<TrialView, 'verdict' | 'message' | 'version'>;
type End = NonNullable<NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number]['state']>['terminated'];

const SAID_NOTHING: Words = { verdict: 'void', message: '' };

/** Its own doing, or that of the container runtime, which could not start it or has lost it. */
function judgeEnd({ reason, exitCode, message = '' }: NonNullable<End>): Words {
  if (reason === 'OOMKilled')
    return { verdict: 'refused', message: 'it takes more memory than its limit allows (OOMKilled)' };
  if (reason === 'StartError' && NO_VALKEY.test(message)) return { verdict: 'refused', message };
  if (reason !== 'Error' || TOLD_TO_END.has(exitCode)) return SAID_NOTHING;
  const version = readVersionTold(message);
  if (version !== undefined) return { verdict: 'accepted', message: '', version };
  return { verdict: 'refused', message: quote(message) };
}

function quote(lastWords: string): string {
  const lastLine = lastWords.split('\n').findLast((line) => /\w/.test(line));
  return findFatalSetting(lastWords) ?? lastLine ?? 'it ends without a word';
}
