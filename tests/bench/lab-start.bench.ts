import { createLab, deleteLab } from '@valkey-operator/lab';
import type { Bench } from './bench.ts';

const NAME = 'bench';

/**
 * How long a person waits for a Kubernetes. The floor is what the control plane of this very start took until it
 * answered /readyz: no lab with the same API server can be faster, and it slows down with the machine as we do.
 */
const labStart: Bench = {
  name: 'lab-start',
  description: 'a lab of three nodes, from the command to Ready (warm), against its bare API server',
  async run() {
    try {
      // Warm: what can be downloaded, built or cached is there after the first start.
      await createLab({ name: NAME, nodes: 1 });
      await deleteLab(NAME);
      const start = performance.now();
      const { timings } = await createLab({ name: NAME, nodes: 3 });
      const ours = performance.now() - start;
      return { ours: ours / 1000, floor: controlPlaneMs(timings) / 1000, unit: 's', limit: 25 };
    } finally {
      await deleteLab(NAME);
    }
  },
};

function controlPlaneMs(timings: readonly { title: string; ms: number }[]): number {
  const steps = timings.filter(({ title }) => /etcd|api ?server/i.test(title));
  if (steps.length === 0) throw new Error(`no API server among: ${timings.map(({ title }) => title).join(', ')}`);
  return steps.reduce((sum, { ms }) => sum + ms, 0);
}

export default labStart;
