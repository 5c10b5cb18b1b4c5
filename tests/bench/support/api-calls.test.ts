import { expect, test } from 'vitest';
import { countBetween, parseApiCalls } from './api-calls.ts';

const metrics = (lines: Record<string, number>) =>
  Object.entries(lines)
    .map(([labels, count]) => {
      const [verb, resource, code] = labels.split(' ');
      return `valkey_operator_api_calls_total{verb="${verb}",resource="${resource}",code="${code}"} ${count}`;
    })
    .join('\n');

test('calls are counted between two looks, by what they mean to the API server', () => {
  const before = parseApiCalls(metrics({ 'patch leases 200': 4, 'watch pods 200': 1, 'list pods 200': 1 }));
  const after = parseApiCalls(
    metrics({
      'patch leases 200': 7,
      'watch pods 200': 2,
      'list pods 200': 1,
      'get secrets 200': 2,
      'create tokenreviews 201': 5,
      'apply statefulsets 200': 1,
      'patch valkeyclusters/status 200': 1,
    }),
  );
  expect(countBetween(before, after)).toEqual({ lease: 3, watch: 1, review: 5, read: 2, write: 2 });
});

test('the same call with different outcomes is counted together', () => {
  const after = parseApiCalls(metrics({ 'patch pods 200': 1, 'patch pods 409': 2 }));
  expect(countBetween(new Map(), after).write).toBe(3);
});
