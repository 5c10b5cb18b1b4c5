import { expect, it } from 'vitest';
import { bear, condition, settle } from '../testing/settle.ts';
import { pass, versions } from '../testing/upgrades.ts';

const image = (tag: string) => ({ name: 'docker.io/valkey/valkey', tag, pullPolicy: 'IfNotPresent' }) as const;

it('an operation during which somebody takes a name that the cluster needs goes on afterwards, under its id', () => {
  const cluster = bear({ spec: { valkeyImage: image('8.1') } });
  cluster.change({ valkeyImage: image('9.1') });
  pass(cluster, 9);
  const { id } = cluster.cluster.status!.orchestration!;
  const key = `Service/${cluster.names.clientService}`;
  const service = cluster.children.get(key)!;
  cluster.children.set(key, { ...service, metadata: { ...service.metadata, ownerReferences: [] } });
  pass(cluster, 5);
  const plan = cluster.reconcile();
  expect(condition(plan, 'Progressing').reason).toBe('NameTaken');
  expect(plan.status).toMatchObject({ pendingOrchestrations: [{ id, kind: 'Upgrade' }] });
  expect(plan.detail.orchestrationLog?.at(-1)).toMatchObject({ orchestration: id, outcome: 'Interrupted' });
  cluster.children.set(key, service);
  pass(cluster, 1);
  expect(cluster.cluster.status?.orchestration?.id).toBe(id);
  settle(cluster, 300);
  expect(versions(cluster)).toEqual(['9.1']);
});
