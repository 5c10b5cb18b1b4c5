import { describe, expect, it } from 'vitest';
import { planCluster } from '../plan.ts';
import type { ClusterSnapshot } from '../snapshot.ts';
import { bear, condition } from '../testing/settle.ts';

describe('a pod that cannot work', () => {
  const planWith = (change: Partial<ClusterSnapshot['pods'][number]>) => {
    const cluster = bear();
    cluster.losePod(5, { volume: true });
    const snapshot = cluster.snapshot();
    const [{ report: _, ...pod }] = snapshot.pods as [ClusterSnapshot['pods'][number]];
    const broken = { ...pod, name: 'demo-5', ordinal: 5, uid: 'new', phase: 'Pending', ...change } as const;
    return planCluster({ ...snapshot, pods: [...snapshot.pods, broken] });
  };

  it.each([
    [
      'ImageUnavailable',
      'spec.valkeyImage',
      { waiting: { container: 'valkey', reason: 'ErrImagePull', message: 'not found' } },
    ],
    [
      'ImageUnavailable',
      'Valkey 8.0',
      { waiting: { container: 'valkey', reason: 'CrashLoopBackOff', message: 'back-off' } },
    ],
    [
      'ImageUnavailable',
      'image has non-numeric user',
      {
        waiting: {
          container: 'valkey',
          reason: 'CreateContainerConfigError',
          message: 'container has runAsNonRoot and image has non-numeric user (valkey)',
        },
      },
    ],
    [
      'ConfigRejected',
      'maxmemory-policy "as-you-like"',
      {
        waiting: {
          container: 'valkey',
          reason: 'CrashLoopBackOff',
          message: 'back-off',
          lastWords: `*** FATAL CONFIG FILE ERROR (Version 9.1.2) ***\nReading the configuration file, at line 7\n>>> 'maxmemory-policy "as-you-like"'\nargument(s) must be one of the following: noeviction\n`,
        },
      },
    ],
    [
      'ConfigRejected',
      'Did you mean maxmemory-policy?',
      {
        waiting: {
          container: 'valkey',
          reason: 'CrashLoopBackOff',
          message: 'back-off',
          lastWords: `*** FATAL CONFIG FILE ERROR (Version 9.1.2) ***\nReading the configuration file, at line 7\n>>> 'maxmemory-polcy "noeviction"'\nBad directive or wrong number of arguments\n`,
        },
      },
    ],
    ['Unschedulable', '0/3 nodes', { unschedulable: '0/3 nodes are available: 3 Insufficient memory' }],
    ['NodeUnreachable', 'demo-5', { phase: 'Running', createdAt: 0 }],
  ] as const)('shows as %s, with %s in the message', (reason, text, change) => {
    const degraded = condition(planWith(change), 'Degraded');
    expect(degraded).toMatchObject({ status: 'True', reason });
    expect(degraded.message).toContain(text);
  });
});
