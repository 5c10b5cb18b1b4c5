import { apiVersion } from '@valkey-operator/api';
import { type KubeClient, type KubeObject, pods, statefulSets } from '@valkey-operator/kube';
import type { Lab } from '@valkey-operator/lab';
import { setTimeout as sleep } from 'node:timers/promises';
import { bareStatefulSet, formBareCluster } from '../support/bare-cluster.ts';
import { createRestrictedNamespace, sampleSpec, valkeyClusters } from '../support/test-cluster.ts';
import { type Bench, median } from './bench.ts';
import { traceBirth } from './support/birth-timeline.ts';
import { watchUntil } from './support/watch-until.ts';

const namespace = 'bench-birth';
const ROUNDS = 3;
const PODS = 6;
const name = 'newborn';

/**
 * How long a person waits for a cluster. The floor is a StatefulSet of as many Valkey pods with nothing of ours in it, until
 * all of them are Ready: no cluster that consists of these pods can be there before. The first round of each is not counted,
 * and then they take turns, so that what else happens on the machine hits both. Told besides: when the plain pods are a
 * cluster too, formed by valkey-cli; a primary of Valkey serves nothing in the first two seconds of its life.
 */
const birth: Bench = {
  name: 'birth',
  description: 'a cluster of 3x1 from apply to Ready, against a plain StatefulSet of six Valkey pods',
  async run(testbed) {
    const lab = await testbed.lab();
    const { client } = await lab.api();
    await createRestrictedNamespace(lab, namespace);
    try {
      const [ours, floor, byHand]: [number[], number[], number[]] = [[], [], []];
      const traces: Awaited<ReturnType<typeof traceBirth>>[] = [];
      for (let round = 0; round <= ROUNDS; round += 1) {
        await testbed.progress.step(round === 0 ? 'Warm up' : `Births, round ${round}`, async (step) => {
          const { seconds: us, trace } = await bearCluster(lab, client);
          const { untilReady, untilFormed } = await bearPods(lab, client);
          step.note(`ours ${us.toFixed(2)} s, floor ${untilReady.toFixed(2)} s, by hand ${untilFormed.toFixed(2)} s`);
          if (round === 0) return;
          ours.push(us);
          floor.push(untilReady);
          byHand.push(untilFormed);
          traces.push(trace);
        });
      }
      const also = traces[0]!.map(({ what }, stage) => ({
        what: `until ${what}`,
        value: median(traces.map((trace) => trace[stage]!.seconds)),
        unit: 's',
      }));
      also.push({ what: 'the plain pods, formed by valkey-cli: until they serve', value: median(byHand), unit: 's' });
      return { ours: median(ours), floor: median(floor), unit: 's', maxRatio: 2, also };
    } finally {
      await lab.kubectl(['delete', 'namespace', namespace, '--wait=false']);
    }
  },
};

/** Seconds until a ValkeyCluster is Ready, and what they went into; it is gone afterwards. */
async function bearCluster(lab: Lab, client: KubeClient) {
  const metadata = { namespace, name };
  const bornAt = Date.now();
  const start = performance.now();
  const wanted = { apiVersion, kind: 'ValkeyCluster', metadata, spec: sampleSpec };
  const made = await client.create<KubeObject>(valkeyClusters, wanted);
  await watchUntil(client, valkeyClusters, made, ({ status }) =>
    (status?.conditions ?? []).some((condition) => condition.type === 'Ready' && condition.status === 'True'),
  );
  const seconds = (performance.now() - start) / 1000;
  const trace = await traceBirth(lab, metadata, bornAt);
  await client.delete(valkeyClusters, metadata);
  await untilNoPods(client);
  return { seconds, trace };
}

/** Seconds until as many pods of a plain StatefulSet are Ready, and until they are a cluster; they are gone afterwards. */
async function bearPods(lab: Lab, client: KubeClient) {
  const metadata = { namespace, name: 'plain' };
  const plain = { ...metadata, size: PODS, settings: { 'repl-diskless-sync-delay': '0' } };
  const start = performance.now();
  const since = () => (performance.now() - start) / 1000;
  const made = await client.create(statefulSets, bareStatefulSet(plain));
  await watchUntil(client, statefulSets, made, ({ status }) => status?.readyReplicas === PODS);
  const untilReady = since();
  await formBareCluster(lab, plain);
  const untilFormed = since();
  await client.delete(statefulSets, metadata);
  await untilNoPods(client);
  return { untilReady, untilFormed };
}

/** What still ends would take time from what is measured next. */
async function untilNoPods(client: KubeClient): Promise<void> {
  while ((await client.list(pods, { namespace })).items.length > 0) await sleep(200);
}

export default birth;
