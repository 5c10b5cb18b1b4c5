import type { Live, Node, Pod } from '@valkey-operator/kube';

/** Something that is not as it should be in a lab, and what a person can do about it. */
export interface Problem {
  what: string;
  remedy: string;
}

export interface ComponentFacts {
  name: string;
  state: 'running' | 'frozen' | 'stopped';
  pid: number;
  log: string;
  lastLine: string | undefined;
}

export function componentProblems({ name, state, pid, log, lastLine }: ComponentFacts, startAgain: string): Problem[] {
  if (state === 'running') return [];
  if (state === 'frozen') return [{ what: `${name} is frozen, as by a test`, remedy: `thaw it: kill -CONT ${pid}` }];
  return [
    { what: `${name} has stopped; its last line: ${lastLine ?? '(none)'}`, remedy: `read ${log}; ${startAgain}` },
  ];
}

export function nodeProblems(node: Live<Node>, kubeletLog: string): Problem[] {
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready?.status === 'True') return [];
  const why = ready?.message ?? 'its kubelet has not said so yet';
  return [{ what: `${node.metadata.name} is not Ready: ${why}`, remedy: `read ${kubeletLog}` }];
}

/** Why a pod does not run. A pod that is just being started is no problem. */
export function podProblems({ metadata, status }: Live<Pod>): Problem[] {
  if (status?.phase === 'Succeeded') return [];
  const pod = `${metadata.namespace}/${metadata.name}`;
  const remedy = `kubectl -n ${metadata.namespace} describe pod ${metadata.name}`;
  const unscheduled = status?.conditions?.find(
    ({ type, status: value }) => type === 'PodScheduled' && value === 'False',
  );
  if (unscheduled) return [{ what: `pod ${pod} cannot be scheduled: ${unscheduled.message}`, remedy }];
  const containers = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  return containers.flatMap(({ name, ready, state }) => {
    const waiting = ready ? undefined : state?.waiting;
    if (!waiting?.reason || ['ContainerCreating', 'PodInitializing'].includes(waiting.reason)) return [];
    const what = `pod ${pod}, container ${name}: ${[waiting.reason, waiting.message].filter(Boolean).join(', ')}`;
    return [{ what, remedy }];
  });
}
