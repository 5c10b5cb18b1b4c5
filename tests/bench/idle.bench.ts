import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, Figure } from './bench.ts';
import { countBetween, readApiCalls } from './support/api-calls.ts';
import { findProcesses, withCluster } from './support/bench-cluster.ts';
import { cpuSecondsOf } from './support/process-usage.ts';

/** Sessions are closed and the last status is written by then. */
const SETTLE_MS = 15_000;
const MEASURED_MS = 120_000;

/**
 * What a cluster costs in which nothing happens: processor time of the operator and the six sidecars. The floor is what the
 * six Valkeys use in the same two minutes, for gossip and to say that they live. Nothing may be written to the API server
 * but the Lease.
 */
const idle: Bench = {
  name: 'idle',
  description: 'processor time of operator and sidecars for an idle cluster in 2 minutes, against that of its Valkeys',
  run: (testbed) =>
    withCluster(testbed, 'bench-idle', async (cluster) => {
      await testbed.progress.step('Let it settle', () => sleep(SETTLE_MS));
      const { operator, operatorIp, sidecars, valkeys } = await findProcesses(cluster);
      const look = async () => {
        const sum = (pids: number[]) => pids.reduce((all, pid) => all + cpuSecondsOf(pid), 0);
        return {
          calls: await readApiCalls(operatorIp),
          cpu: { operator: sum([operator]), sidecars: sum(sidecars), valkeys: sum(valkeys) },
        };
      };
      const before = await look();
      await testbed.progress.step('Do nothing for two minutes', () => sleep(MEASURED_MS));
      const after = await look();
      const calls = countBetween(before.calls, after.calls);
      const cpu = (of: keyof typeof before.cpu) => after.cpu[of] - before.cpu[of];
      const also: Figure[] = [
        { what: 'writes other than the Lease', value: calls.write, unit: '', limit: 0 },
        { what: 'Lease calls', value: calls.lease, unit: '' },
        { what: 'reads', value: calls.read, unit: '' },
        { what: 'watches opened', value: calls.watch, unit: '' },
        { what: 'token reviews', value: calls.review, unit: '' },
        { what: 'processor time of the operator', value: cpu('operator'), unit: 's' },
        { what: 'processor time of a sidecar', value: cpu('sidecars') / sidecars.length, unit: 's' },
      ];
      return { ours: cpu('operator') + cpu('sidecars'), floor: cpu('valkeys'), unit: 's', also };
    }),
};

export default idle;
