import { setTimeout as sleep } from 'node:timers/promises';
import { createLab, killComponent, type Lab, removeLab } from '@valkey-operator/lab';
import type { Bench } from './bench.ts';

const NAME = 'bench';
const API_SERVER = 'kube-apiserver';

/**
 * How long a person waits for a Kubernetes. The floor is the API server alone, started again on the same machine a moment
 * later: no lab that waits for it can be faster, and it slows down with the machine just as we do.
 */
const labStart: Bench = {
  name: 'lab-start',
  description: 'a lab of three nodes until all is Ready (warm), against its bare API server until /readyz',
  async run() {
    try {
      // Warm: what can be downloaded, built or cached is there after the first start.
      await createLab({ name: NAME, nodes: 1 });
      await removeLab(NAME);
      const start = performance.now();
      const lab = await createLab({ name: NAME, nodes: 3 });
      const ours = performance.now() - start;
      const floor = await restartApiServer(lab);
      return { ours: ours / 1000, floor: floor / 1000, unit: 's', limit: 25 };
    } finally {
      await removeLab(NAME);
    }
  },
};

/** Milliseconds from the start of the process to its first "ready". */
async function restartApiServer(lab: Lab): Promise<number> {
  await killComponent(lab, API_SERVER);
  const start = performance.now();
  lab.start(API_SERVER);
  const deadline = start + 60_000;
  while (!(await isReady(lab))) {
    if (performance.now() > deadline) throw new Error('the API server was not ready again within 60 s');
    await sleep(20);
  }
  return performance.now() - start;
}

async function isReady(lab: Lab): Promise<boolean> {
  const { code } = await lab.kubectl(['get', '--raw', '/readyz', '--request-timeout=2s'], { allowFailure: true });
  return code === 0;
}

export default labStart;
