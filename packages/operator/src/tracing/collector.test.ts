import { expect, test } from 'vitest';
import { findCollector } from './collector.ts';

const GENERAL = 'OTEL_EXPORTER_OTLP_ENDPOINT';

test.each([
  [{}, undefined],
  [{ [GENERAL]: '' }, undefined],
  [{ [GENERAL]: 'http://collector:4318' }, 'http://collector:4318'],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://t/v1/traces', [GENERAL]: 'http://g' }, 'https://t/v1/traces'],
  [{ [GENERAL]: 'http://collector:4318', OTEL_SDK_DISABLED: 'true' }, undefined],
  [{ [GENERAL]: 'http://collector:4318', OTEL_TRACES_EXPORTER: 'none' }, undefined],
])('%j means %s', (env, collector) => {
  expect(findCollector(env)).toBe(collector);
});

test.each([
  [{ [GENERAL]: 'collector:4318' }, `${GENERAL} must be the address of a collector`],
  [{ [GENERAL]: 'http://c:4317', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'must be http/protobuf, not "grpc"'],
])('%j is refused', (env, why) => {
  expect(() => findCollector(env)).toThrow(why);
});
