import type { ReceivedSpan } from '@valkey-operator/operator/testing/otlp';
import { Lab } from '@valkey-operator/lab';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { signalPodProcess } from '../support/pod-processes.ts';
import { createRestrictedNamespace, TestCluster } from '../support/test-cluster.ts';
import { CollectorPod } from './support/collector-pod.ts';
import { Operators } from './support/operators.ts';

/** An operation is one trace, across the operators that worked on it and the sidecars (G3). */
const namespace = 'tracing';
const lab = Lab.open(inject('lab'));
const { client } = await lab.api();
const operators = new Operators(lab, client);
const collector = new CollectorPod(lab, client);
const cluster = new TestCluster(lab, client, namespace, 'traced');
const POLL = { timeout: 60_000, interval: 250 };

beforeAll(async () => {
  await createRestrictedNamespace(lab, namespace);
  await collector.start();
});
afterAll(async () => {
  await collector.stop();
  await lab.kubectl(['delete', 'namespace', namespace, '--wait=false']);
});

test('a birth, and a scale-out in which the operator was killed, are a trace each', async () => {
  await cluster.apply({});
  await cluster.waitUntilReady();
  const births = async () => (await traceOf('Create')).children('Create');
  // In this order. Slots are assigned in the first if a pod is late, which a birth does not wait for; and the last is no step
  // of its own if everybody has told at once that replicas follow.
  const steps = ['Start pods', 'Assign slots', 'Attach replicas'];
  await expect.poll(async () => (await births()).length, POLL).toBeGreaterThan(1);
  const seen = await births();
  expect(seen).toEqual(steps.filter((step) => seen.includes(step)));
  expect(seen[0]).toBe(steps[0]);
  const { children: partsOf } = await traceOf('Create');
  expect(seen.flatMap(partsOf)).toContain('addSlots');

  await cluster.apply({ masterCount: 4 });
  await expect.poll(async () => (await orchestration())?.kind, POLL).toBe('ScaleOut');
  const { id } = (await orchestration())!;
  signalPodProcess((await operators.get((await operators.leader()).pod)).metadata.uid, 'node', 'SIGKILL');
  await expect.poll(orchestration, POLL).toBeUndefined();
  await expect.poll(async () => (await traceOf('ScaleOut')).children('ScaleOut'), POLL).toContain('Move slots');
  const { spans, root, children } = await traceOf('ScaleOut');
  expect(root.attributes).toMatchObject({
    'valkey.orchestration.id': id,
    'valkey.outcome': 'Succeeded',
    'valkey.cluster.name': 'traced',
    'k8s.namespace.name': namespace,
  });
  expect(children('Move slots')).toContain('moveSlots');
  // What was sent by the one that was killed is in the same trace, or lost with it; nothing hangs in the air but that.
  const known = new Set(spans.map(({ spanId }) => spanId));
  const sidecars = spans.filter(({ service }) => service === 'valkey-sidecar');
  expect(sidecars.map(({ name }) => name)).toContain('moveSlots');
  for (const { parentId = '', instance } of sidecars) {
    expect(known).toContain(parentId);
    expect(instance).toMatch(/^traced-\d$/);
  }
});

async function orchestration() {
  return (await cluster.get()).status?.orchestration;
}

/** The finished trace of the last operation of this kind. */
async function traceOf(kind: string) {
  const isRoot = ({ name, parentId }: ReceivedSpan) => name === kind && parentId === undefined;
  await expect.poll(async () => (await collector.spans()).filter(isRoot).length, POLL).toBe(1);
  const all = await collector.spans();
  const root = all.find(isRoot)!;
  const spans = all.filter(({ traceId }) => traceId === root.traceId);
  const children = (name: string): string[] => {
    const parents = spans.filter((span) => span.name === name && span.service === 'valkey-operator');
    const ids = new Set(parents.map(({ spanId }) => spanId));
    return spans
      .filter(({ parentId }) => parentId !== undefined && ids.has(parentId))
      .toSorted((a, b) => a.startMs - b.startMs)
      .map((span) => span.name);
  };
  return { spans, root, children };
}
