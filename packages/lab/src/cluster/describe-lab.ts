import { join } from 'node:path';
import { nodes, pods } from '@valkey-operator/kube';
import { componentProblems, nodeProblems, podProblems, type Problem } from './lab-problems.ts';
import { readRecord } from './lab-record.ts';
import { Lab, type ComponentState } from './lab.ts';
import { nameLab } from './layout.ts';
import { labLeavings } from './remove-lab.ts';

export interface LabReport {
  name: string;
  exists: boolean;
  kubeconfig: string;
  kubectl: string;
  /** Where the volumes and container logs of each node are. */
  volumes: string;
  components: { name: string; state: ComponentState; pid?: number; log: string }[];
  nodes: { name: string; ready: string; zone: string; address: string }[];
  problems: Problem[];
}

const CALL_MS = 5000;

export async function describeLab(name: string): Promise<LabReport> {
  const { kubeconfig, dir } = nameLab(name);
  const record = readRecord(name);
  const report: LabReport = {
    name,
    exists: record !== undefined,
    kubeconfig,
    kubectl: join(record?.binaries ?? '', 'kubectl'),
    volumes: join(dir, 'node*', '{volumes,pod-logs}'),
    components: [],
    nodes: [],
    problems: [],
  };
  if (!record) return { ...report, problems: missingLabProblems(name) };
  const lab = Lab.open(name);
  describeComponents(lab, report);
  if (!record.complete) {
    const remedy = `if no lab-up is at work on it: make lab-down NAME=${name}, then make lab-up again`;
    report.problems.push({ what: 'it is not complete', remedy });
  }
  const isUp = (component: string) =>
    report.components.some((each) => each.name === component && each.state === 'running');
  if (isUp('etcd') && isUp('kube-apiserver')) await describeKubernetes(lab, report);
  return report;
}

function missingLabProblems(name: string): Problem[] {
  const left = labLeavings(name);
  if (left.length === 0) return [{ what: `there is no lab "${name}"`, remedy: `make lab-up NAME=${name}` }];
  return [
    { what: `a lab that is gone left behind: ${left.join(', ')}`, remedy: `make lab-down NAME=${name} clears it` },
  ];
}

function describeComponents(lab: Lab, report: LabReport): void {
  const startAgain = `make lab-up NAME=${lab.name} NODES=${lab.nodes.length} starts it again`;
  for (const { name, state, process, log } of lab.components()) {
    const { pid } = process;
    report.components.push({ name, state, ...(state === 'stopped' ? {} : { pid }), log });
    report.problems.push(...componentProblems({ name, state, pid, log, lastLine: lab.logs(name, 1)[0] }, startAgain));
  }
}

async function describeKubernetes(lab: Lab, report: LabReport): Promise<void> {
  try {
    const { client } = await lab.api();
    const registered = (await client.list(nodes, { timeoutMs: CALL_MS })).items;
    for (const { name, zone, address, dir } of lab.nodes) {
      const node = registered.find(({ metadata }) => metadata.name === name);
      const ready = node?.status?.conditions?.find(({ type }) => type === 'Ready')?.status;
      report.nodes.push({ name, ready: ready ?? 'Unknown', zone, address });
      const log = join(dir, 'logs', 'kubelet.log');
      if (node) report.problems.push(...nodeProblems(node, log));
      else report.problems.push({ what: `${name} is unknown to Kubernetes`, remedy: `read ${log}` });
    }
    for (const pod of (await client.list(pods, { timeoutMs: CALL_MS })).items)
      report.problems.push(...podProblems(pod));
  } catch (error) {
    const [firstLine] = (error as Error).message.split('\n');
    const remedy = `read ${lab.component('kube-apiserver').spec.log}`;
    report.problems.push({ what: `the API server does not answer: ${firstLine}`, remedy });
  }
}
