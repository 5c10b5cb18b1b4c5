import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from './bench.ts';
import { findProcesses, withCluster } from './support/bench-cluster.ts';
import { maxMemory, memoryOf, type MemoryUse } from './support/process-usage.ts';
import { askForStatus } from './support/status-load.ts';

const MiB = 'MiB';
const SETTLE_MS = 15_000;
const SAMPLE_MS = 500;
const LOAD = { perSecond: 200, messages: 6000 };
const LIMIT = { rss: 72, anonymous: 28, operator: 120 };

/** What every pod pays for its sidecar, idle and when it is asked 200 times a second. The floor is what was promised. */
const sidecarMemory: Bench = {
  name: 'sidecar-memory',
  description: 'resident memory of a sidecar under 200 messages a second, against the 72 MiB that are promised',
  run: (testbed) =>
    withCluster(testbed, 'bench-memory', async (cluster) => {
      await testbed.progress.step('Let it settle', () => sleep(SETTLE_MS));
      const { operator, sidecars } = await findProcesses(cluster);
      const idle = maxMemory(sidecars.map(memoryOf));
      const operatorIdle = memoryOf(operator);
      const [first] = await cluster.pods();
      const sidecar = {
        namespace: cluster.namespace,
        cluster: cluster.name,
        pod: first!.metadata.name,
        ip: first!.status!.podIP!,
      };
      const { busy, answered } = await testbed.progress.step(`Ask ${LOAD.perSecond} times a second`, async () => {
        const peaks: MemoryUse[] = [];
        const ended = new AbortController();
        const sample = async () => {
          for (; !ended.signal.aborted; await sleep(SAMPLE_MS)) peaks.push(memoryOf(sidecars[0]!));
        };
        const asked = askForStatus(cluster.client, sidecar, LOAD).finally(() => ended.abort());
        const [got] = await Promise.all([asked, sample()]);
        return { busy: maxMemory(peaks), answered: got };
      });
      return {
        ours: Math.max(idle.rss, busy.rss),
        floor: LIMIT.rss,
        unit: MiB,
        maxRatio: 1,
        also: [
          { what: 'answers in a second', value: answered, unit: '' },
          { what: 'idle, resident', value: idle.rss, unit: MiB, limit: LIMIT.rss },
          { what: 'idle, anonymous', value: idle.anonymous, unit: MiB, limit: LIMIT.anonymous },
          { what: 'busy, resident', value: busy.rss, unit: MiB, limit: LIMIT.rss },
          { what: 'busy, anonymous', value: busy.anonymous, unit: MiB, limit: LIMIT.anonymous },
          { what: 'operator with one cluster, resident', value: operatorIdle.rss, unit: MiB, limit: LIMIT.operator },
        ],
      };
    }),
};

export default sidecarMemory;
