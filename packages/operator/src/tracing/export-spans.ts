import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { Logger } from '../log.ts';
import type { Span } from './span.ts';

export interface SpanExport {
  add(span: Span): void;
  /** Sends what has not been sent. */
  close(): Promise<void>;
}

const SCOPE = { name: 'valkey-operator' };
const SAMPLED = 1;
/** A collector that does not answer shall not keep a process from ending. */
const EXPORT_TIMEOUT_MS = 5_000;
const LOG_EVERY_MS = 60_000;

/**
 * Sends spans by OTLP/HTTP, several at a time. Address, headers and time limits are read from the environment by the
 * library, which is loaded only here: an operator without a collector does not pay for it.
 */
export async function createSpanExport(version: string, log: Logger): Promise<SpanExport> {
  const [{ OTLPTraceExporter }, { BatchSpanProcessor }, { resourceFromAttributes }, api] = await Promise.all([
    import('@opentelemetry/exporter-trace-otlp-proto'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/api'),
  ]);
  const { SpanKind, SpanStatusCode, diag, DiagLogLevel } = api;
  const tell = tellNowAndThen(log);
  const quiet = () => {};
  const logger = { error: tell, warn: tell, info: quiet, debug: quiet, verbose: quiet };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const exporter = new OTLPTraceExporter();
  const processor = new BatchSpanProcessor({ exporter, exportTimeoutMillis: EXPORT_TIMEOUT_MS });
  const resourceOf = (sidecarOf: string | undefined) =>
    resourceFromAttributes(
      sidecarOf === undefined
        ? { 'service.name': 'valkey-operator', 'service.version': version }
        : { 'service.name': 'valkey-sidecar', 'service.instance.id': sidecarOf },
    );

  return { add: (span) => processor.onEnd(toReadable(span)), close: () => processor.shutdown().catch(tell) };

  function toReadable({ traceId, spanId, parentId, sidecarOf, error, startMs, ...span }: Span): ReadableSpan {
    // Two machines, two clocks: an end is never told as before its begin.
    const endMs = Math.max(startMs, span.endMs);
    return {
      name: span.name,
      kind: sidecarOf === undefined ? SpanKind.INTERNAL : SpanKind.SERVER,
      spanContext: () => ({ traceId, spanId, traceFlags: SAMPLED }),
      ...(parentId && { parentSpanContext: { traceId, spanId: parentId, traceFlags: SAMPLED } }),
      startTime: toHrTime(startMs),
      endTime: toHrTime(endMs),
      duration: toHrTime(endMs - startMs),
      status: error === undefined ? { code: SpanStatusCode.OK } : { code: SpanStatusCode.ERROR, message: error },
      attributes: span.attributes,
      links: [],
      events: [],
      ended: true,
      resource: resourceOf(sidecarOf),
      instrumentationScope: SCOPE,
      droppedAttributesCount: 0,
      droppedEventsCount: 0,
      droppedLinksCount: 0,
    };
  }
}

function toHrTime(ms: number): [number, number] {
  return [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)];
}

/** Traces that get lost are worth a line, but not one per batch for as long as a collector is away. */
function tellNowAndThen(log: Logger): (...what: unknown[]) => void {
  let toldAt = -Infinity;
  return (...what) => {
    if (performance.now() - toldAt < LOG_EVERY_MS) return;
    toldAt = performance.now();
    log.warn({ error: what.join(' ').slice(0, 500) }, 'traces could not be sent');
  };
}
