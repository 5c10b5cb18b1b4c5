import { afterEach, expect, test, vi } from 'vitest';
import { quietLog } from '../testing/builders.ts';
import { startCollector } from '../testing/collector.ts';
import { createSpanExport } from './export-spans.ts';
import type { Span } from './span.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

const span: Span = {
  traceId: 'a'.repeat(32),
  spanId: 'b'.repeat(16),
  name: 'Move slots',
  startMs: 1_700_000_000_123,
  endMs: 1_700_000_001_456,
  attributes: { 'valkey.step.number': 2, 'valkey.outcome': 'Succeeded' },
};

async function send(...spans: Span[]) {
  const collector = await startCollector('127.0.0.1');
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', collector.url);
  const sender = await createSpanExport('1.2.3', quietLog);
  for (const each of spans) sender.add(each);
  await sender.close();
  await collector.close();
  return collector;
}

test('spans arrive as they were, under the service whose work they are', async () => {
  const { spans, paths } = await send(span, {
    ...span,
    spanId: 'c'.repeat(16),
    parentId: span.spanId,
    sidecarOf: 'demo-0',
    error: 'NOREPLICAS',
  });
  expect([...paths]).toEqual(['POST /v1/traces application/x-protobuf']);
  expect(spans).toEqual([
    { ...span, service: 'valkey-operator' },
    {
      ...span,
      spanId: 'c'.repeat(16),
      parentId: span.spanId,
      service: 'valkey-sidecar',
      instance: 'demo-0',
      error: 'NOREPLICAS',
    },
  ]);
});

test('an end that another clock puts before its begin is put at the begin', async () => {
  const { spans } = await send({ ...span, endMs: span.startMs - 5 });
  expect(spans).toMatchObject([{ startMs: span.startMs, endMs: span.startMs }]);
});

test('a collector that refuses costs a line of the log, not the operator', async () => {
  const collector = await startCollector('127.0.0.1');
  collector.refuse(400);
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', collector.url);
  const warn = vi.fn();
  const sender = await createSpanExport('1.2.3', { ...quietLog, warn } as never);
  sender.add(span);
  await sender.close();
  await collector.close();
  expect(warn.mock.calls.map(([, message]) => message)).toEqual(['traces could not be sent']);
});
