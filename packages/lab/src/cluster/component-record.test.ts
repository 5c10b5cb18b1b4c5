import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readComponents, removeComponents, writeComponent } from './component-record.ts';
import { layoutLab, layoutNode, type LabLayout } from './layout.ts';

let lab: LabLayout;
beforeEach(() => {
  lab = { ...layoutLab('any', 0), dir: mkdtempSync(join(tmpdir(), 'lab-')) };
});
afterEach(() => rmSync(lab.dir, { recursive: true }));

function note(name: string, pid = 1): void {
  const spec = { name, argv: ['/bin/true'] as [string], log: '/dev/null', cgroup: '/any' };
  writeComponent(lab, { spec, process: { pid, startTime: '1' } });
}

const names = () => readComponents(lab).map(({ spec }) => spec.name);

test('components are listed as people read them: the control plane, then the nodes by number', () => {
  for (const name of ['node10/kubelet', 'node2/kubelet', 'node2/containerd', 'kube-scheduler', 'etcd']) note(name);
  expect(names()).toEqual(['etcd', 'kube-scheduler', 'node2/containerd', 'node2/kubelet', 'node10/kubelet']);
});

test('a component that is started again is noted with its new process', () => {
  note('etcd', 1);
  note('etcd', 2);
  expect(readComponents(lab).map(({ process }) => process.pid)).toEqual([2]);
});

test('a lab of which nothing was started has none', () => {
  expect(names()).toEqual([]);
});

test('a note that cannot be read is no component, and does not hide the others', () => {
  note('etcd');
  writeFileSync(join(lab.dir, 'components', 'kube-scheduler.json'), '{"spec":');
  expect(names()).toEqual(['etcd']);
});

test('the components of a node go with it, those of a node whose name begins alike stay', () => {
  for (const name of ['etcd', 'node1/kubelet', 'node10/kubelet']) note(name);
  removeComponents(lab, layoutNode(lab, 1));
  expect(names()).toEqual(['etcd', 'node10/kubelet']);
});
