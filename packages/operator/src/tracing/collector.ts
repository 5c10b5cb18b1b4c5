const PROTOCOL = 'http/protobuf';

/** Where traces go, by the variables that OpenTelemetry has for it; none: nobody wants them. */
export function findCollector(env: NodeJS.ProcessEnv): string | undefined {
  const general = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const collector = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || general;
  if (!collector || env.OTEL_SDK_DISABLED === 'true' || env.OTEL_TRACES_EXPORTER === 'none') return undefined;
  const name = collector === general ? 'OTEL_EXPORTER_OTLP_ENDPOINT' : 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT';
  if (!/^https?:$/.test(URL.parse(collector)?.protocol ?? '')) {
    throw new Error(`${name} must be the address of a collector, such as http://collector:4318, not "${collector}"`);
  }
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL || PROTOCOL;
  if (protocol !== PROTOCOL) {
    throw new Error(
      `OTEL_EXPORTER_OTLP_PROTOCOL must be ${PROTOCOL}, not "${protocol}": collectors take it on port 4318`,
    );
  }
  return collector;
}
