import { annotations, labels } from '@valkey-operator/api';
import { findFatalSetting, findStuck, TRIAL, type TrialView } from '@valkey-operator/core';
import type { Live, Pod } from '@valkey-operator/kube';
import { viewPod, withoutUndefined } from './pod-view.ts';

/** It was told to end: asked, by SIGTERM or by SIGKILL. */
const TOLD_TO_END: ReadonlySet<number> = new Set([0, 143, 137]);

export function isTrial({ metadata }: Live<Pod>): boolean {
  return metadata.labels?.[labels.component] === TRIAL;
}

/** What a Valkey has said to its settings. One that lives when its kubelet asks for the first time has taken them. */
export function viewTrial(pod: Live<Pod>): TrialView {
  const { name, uid, deletionTimestamp, annotations: own } = pod.metadata;
  const view = { name, uid, asked: own?.[annotations.applied] ?? '', ...withoutUndefined({ deletionTimestamp }) };
  const [container] = pod.status?.containerStatuses ?? [];
  const ended = container?.state?.terminated;
  // Its own doing. Other reasons are the container runtime's, which could not start it, or has lost it.
  if (ended?.reason === 'Error' && !TOLD_TO_END.has(ended.exitCode))
    return { ...view, verdict: 'refused', message: quote(ended.message) };
  if (ended?.reason === 'OOMKilled')
    return { ...view, verdict: 'refused', message: 'it takes more memory than its limit allows (OOMKilled)' };
  if (ended || pod.status?.phase === 'Failed') return { ...view, verdict: 'void', message: '' };
  const { unschedulable, ...rest } = viewPod(pod, { zones: new Map() });
  const message = unschedulable ?? findStuck(rest) ?? '';
  return { ...view, verdict: container?.ready === true ? 'accepted' : 'unknown', message };
}

function quote(lastWords = ''): string {
  const lastLine = lastWords.split('\n').findLast((line) => /\w/.test(line));
  return findFatalSetting(lastWords) ?? lastLine ?? 'it ends without a word';
}
