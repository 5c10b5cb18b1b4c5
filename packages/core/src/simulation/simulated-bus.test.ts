import { expect, it, vi } from 'vitest';
import { bear } from '../testing/settle.ts';

/** Of a round of gossip in a cluster of so many shards: how often a process is looked at, and a line of a table. */
function countLooks(shards: number): { pods: number; processes: number; lines: number } {
  const { bus, pods, now } = bear({ shards });
  let processes = 0;
  for (const pod of pods) Object.defineProperty(pod, 'process', { get: () => ((processes += 1), 'running') });
  const lookUp = vi.spyOn(Map.prototype, 'get');
  bus.gossip(now);
  const lines = lookUp.mock.calls.length;
  lookUp.mockRestore();
  return { pods: pods.length, processes, lines };
}

it('a round of gossip is little work for each pair of nodes, however many others there are', () => {
  const { pods, processes, lines } = countLooks(16);
  expect(processes).toBeLessThan(4 * pods);
  expect(lines).toBeLessThan(4 * pods ** 2);
});
