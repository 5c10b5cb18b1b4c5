import { expect, test } from 'vitest';
import { createMetrics } from './metrics.ts';

test('metrics count what happens and look up what is', async () => {
  const metrics = createMetrics();
  metrics.countCall({ verb: 'get', resource: 'pods', code: 200, ms: 1 });
  metrics.countRun({ key: 'a/b', waitedMs: 5, ranMs: 50, failures: 1, error: new Error('no') });
  metrics.countHeard('heartbeat', -3);
  metrics.countHeard('valkeyExited', undefined);
  metrics.countEnded({ id: 'scaleout-1', kind: 'ScaleOut', outcome: 'Succeeded', startedAtMs: 1000, endedAtMs: 5000 });
  let watched = [{ labels: { resource: 'pods' }, value: 3 }];
  metrics.watch('age_seconds', 'Age.', ['resource'], () => watched);
  const lines = async () => (await metrics.registry.metrics()).split('\n');
  expect(await lines()).toEqual(
    expect.arrayContaining([
      'valkey_operator_api_calls_total{verb="get",resource="pods",code="200"} 1',
      'valkey_operator_reconcile_seconds_count{result="error"} 1',
      'valkey_operator_queue_seconds_count 1',
      'valkey_operator_heartbeats_total{kind="heartbeat"} 1',
      'valkey_operator_heartbeats_total{kind="valkeyExited"} 1',
      'valkey_operator_heartbeat_latency_seconds_sum 0',
      'valkey_operator_orchestration_seconds_sum{kind="ScaleOut",outcome="Succeeded"} 4',
      'age_seconds{resource="pods"} 3',
    ]),
  );
  watched = [];
  expect((await lines()).filter((line) => line.startsWith('age_seconds'))).toEqual([]);
});
