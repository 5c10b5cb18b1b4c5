import type { Logger } from '../log.ts';
import type { OperatorOptions } from '../options.ts';
import { createSpanExport } from './export-spans.ts';
import { noTracing, OrchestrationTracer, type Tracing } from './orchestration-tracer.ts';

/** The traces of this process, and how to send the last of them. */
export async function createTracing(
  { collector, version }: Pick<OperatorOptions, 'collector' | 'version'>,
  log: Logger,
): Promise<{ tracing: Tracing; close: () => Promise<void> }> {
  if (collector === undefined) return { tracing: noTracing, close: async () => {} };
  const spans = await createSpanExport(version, log);
  log.info({ collector }, 'tracing operations');
  return { tracing: new OrchestrationTracer((span) => spans.add(span), Date.now), close: () => spans.close() };
}
