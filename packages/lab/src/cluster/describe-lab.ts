import { join } from 'node:path';
import { Lab } from './lab.ts';
import { readRecord } from './lab-record.ts';
import { nameLab } from './layout.ts';
import { labLeavings } from './remove-lab.ts';

export interface Problem {
  what: string;
  remedy: string;
}

export interface LabReport {
  name: string;
  exists: boolean;
  kubeconfig: string;
  kubectl: string;
  /** Where the volumes and container logs of each node are. */
  volumes: string;
  components: { name: string; state: string; pid?: number; log: string }[];
  nodes: { name: string; ready: string; zone: string; address: string }[];
  problems: Problem[];
}

interface NodeObject {
  metadata: { name: string };
  status: { conditions?: { type: string; status: string; message?: string }[] };
}

interface PodObject {
  metadata: { name: string; namespace: string };
  status: {
    phase: string;
    conditions?: { type: string; status: string; message?: string }[];
    containerStatuses?: {
      name: string;
      ready: boolean;
      restartCount: number;
      state?: { waiting?: { reason?: string; message?: string } };
    }[];
  };
}

export async function describeLab(name: string): Promise<LabReport> {
  const layout = nameLab(name);
  const record = readRecord(name);
  const report: LabReport = {
    name,
    exists: record !== undefined,
    kubeconfig: layout.kubeconfig,
    kubectl: join(record?.binaries ?? '', 'kubectl'),
    volumes: join(layout.dir, 'node*', '{volumes,pod-logs}'),
    components: [],
    nodes: [],
    problems: [],
  };
  if (!record) {
    report.problems.push(...missingLabProblems(name));
    return report;
  }
  const lab = Lab.open(name);
  report.components = lab.components().map(({ name: component, state, process, log }) => ({
    name: component,
    state,
    ...(state === 'stopped' ? {} : { pid: process.pid }),
    log,
  }));
  report.problems.push(...componentProblems(lab));
  if (!record.complete) {
    report.problems.push({
      what: 'its making was cut off half-way',
      remedy: `make lab-down NAME=${name}, then make lab-up again`,
    });
  }
  if (isUp(report, 'etcd') && isUp(report, 'kube-apiserver')) await describeKubernetes(lab, report);
  return report;
}

function isUp(report: LabReport, component: string): boolean {
  return report.components.some(({ name, state }) => name === component && state === 'running');
}

function missingLabProblems(name: string): Problem[] {
  const left = labLeavings(name);
  if (left.length === 0) return [{ what: `there is no lab "${name}"`, remedy: `make lab-up NAME=${name}` }];
  return [
    { what: `a lab that is gone left behind: ${left.join(', ')}`, remedy: `make lab-down NAME=${name} clears it` },
  ];
}

function componentProblems(lab: Lab): Problem[] {
  return lab
    .components()
    .filter(({ state }) => state !== 'running')
    .map(({ name, state, log }) => ({
      what: `${name} is ${state}; its last line: ${lab.logs(name, 1)[0] ?? '(none)'}`,
      remedy:
        state === 'frozen'
          ? 'a test froze it; send it SIGCONT'
          : `read ${log}; make lab-up NAME=${lab.name} NODES=${lab.nodes.length} starts it again`,
    }));
}

async function describeKubernetes(lab: Lab, report: LabReport): Promise<void> {
  const list = async <T>(...args: string[]) =>
    (await lab.kubectlJson<{ items: T[] }>(['get', ...args, '--request-timeout=5s'])).items;
  try {
    for (const node of await list<NodeObject>('nodes')) {
      const ready = node.status.conditions?.find(({ type }) => type === 'Ready');
      const layout = lab.node(node.metadata.name);
      report.nodes.push({
        name: layout.name,
        ready: ready?.status ?? 'Unknown',
        zone: layout.zone,
        address: layout.address,
      });
      if (ready?.status !== 'True') {
        report.problems.push({
          what: `${layout.name} is not Ready: ${ready?.message}`,
          remedy: `read ${join(layout.dir, 'logs', 'kubelet.log')}`,
        });
      }
    }
    for (const pod of await list<PodObject>('pods', '--all-namespaces')) report.problems.push(...podProblems(pod));
  } catch (error) {
    const [firstLine] = (error as Error).message.split('\n');
    report.problems.push({
      what: `the API server does not answer: ${firstLine}`,
      remedy: `read ${lab.component('kube-apiserver').spec.log}`,
    });
  }
}

function podProblems({ metadata, status }: PodObject): Problem[] {
  if (status.phase === 'Succeeded') return [];
  const pod = `${metadata.namespace}/${metadata.name}`;
  const remedy = `kubectl -n ${metadata.namespace} describe pod ${metadata.name}`;
  const unschedulable = status.conditions?.find(
    ({ type, status: value }) => type === 'PodScheduled' && value === 'False',
  );
  if (unschedulable) return [{ what: `pod ${pod} cannot be scheduled: ${unschedulable.message}`, remedy }];
  return (status.containerStatuses ?? [])
    .filter(({ ready, state }) => !ready && state?.waiting && state.waiting.reason !== 'ContainerCreating')
    .map(({ name, state }) => ({
      what: `pod ${pod}, container ${name}: ${state?.waiting?.reason} ${state?.waiting?.message ?? ''}`.trim(),
      remedy,
    }));
}
