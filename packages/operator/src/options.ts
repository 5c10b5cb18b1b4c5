import { parseArgs } from 'node:util';
import { findCollector } from './tracing/collector.ts';

/** How this process was started: flags for people, variables for the Deployment. */
export interface OperatorOptions {
  namespace: string;
  podName: string;
  /** Namespaces to manage; none: all. */
  watchNamespaces: string[] | undefined;
  trustDomain: string;
  httpPort: number;
  gatewayPort: number;
  logLevel: string;
  version: string;
  /** Where to save the snapshot of every plan that has actions, for replay in tests. */
  recordDir: string | undefined;
  /** Where traces of operations go; none: nowhere. */
  collector: string | undefined;
  /** Heed the annotation by which a test ends this process at a chosen point. */
  crashPoints: boolean;
}

const LEVELS = ['debug', 'info', 'warn', 'error'];

const FLAGS = {
  'watch-namespaces': { type: 'string', help: 'comma-separated namespaces to manage (default: all)' },
  'trust-domain': { type: 'string', default: 'valkey.local', help: 'trust domain of the SPIFFE ids' },
  'http-port': { type: 'string', default: '8080', help: 'health and metrics' },
  'gateway-port': { type: 'string', default: '17379', help: 'gRPC for sidecars' },
  'log-level': { type: 'string', default: 'info', help: LEVELS.join(', ') },
  'record-dir': { type: 'string', help: 'save the snapshot of every plan with actions here, for replay' },
  'crash-points': { type: 'boolean', default: false, help: 'for tests: crash where valkey.io/crash-at says' },
  help: { type: 'boolean', help: 'print this and exit' },
  version: { type: 'boolean', help: 'print the version and exit' },
} as const;

export type ParsedOptions = { run: OperatorOptions } | { print: string };

export function parseOptions(args: string[], env: NodeJS.ProcessEnv): ParsedOptions {
  const { values } = parseArgs({ args, options: FLAGS, strict: true });
  const version = env.VALKEY_OPERATOR_VERSION ?? 'development';
  if (values.version) return { print: version };
  if (values.help) return { print: formatHelp() };
  const { POD_NAMESPACE: namespace, POD_NAME: podName } = env;
  const missing = Object.entries({ POD_NAMESPACE: namespace, POD_NAME: podName }).filter(([, value]) => !value);
  if (!namespace || !podName) {
    throw new Error(
      `missing in the environment: ${missing.map(([name]) => name).join(', ')}; the Deployment sets them from the downward API`,
    );
  }
  return {
    run: {
      namespace,
      podName,
      version,
      watchNamespaces: namespaceList(values['watch-namespaces']),
      trustDomain: values['trust-domain'],
      httpPort: port('http-port', values['http-port']),
      gatewayPort: port('gateway-port', values['gateway-port']),
      logLevel: level(values['log-level']),
      recordDir: values['record-dir'],
      collector: findCollector(env),
      crashPoints: values['crash-points'],
    },
  };
}

/** No namespaces at all would be an operator for nothing: an empty list means what no list means. */
function namespaceList(value = ''): string[] | undefined {
  const names = value.split(',').filter(Boolean);
  return names.length > 0 ? names : undefined;
}

function level(value: string): string {
  if (!LEVELS.includes(value)) throw new Error(`--log-level must be one of ${LEVELS.join(', ')}, not "${value}"`);
  return value;
}

function port(flag: string, value: string): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1 || number > 65_535) {
    throw new Error(`--${flag} must be a port number from 1 to 65535, not "${value}"`);
  }
  return number;
}

function formatHelp(): string {
  const rows = Object.entries(FLAGS).map(([flag, { help, ...rest }]) => {
    const fallback = 'default' in rest ? ` (default ${rest.default})` : '';
    return `  --${flag.padEnd(18)} ${help}${fallback}`;
  });
  return [
    'valkey-operator: creates, watches and heals Valkey clusters',
    '',
    ...rows,
    '',
    'OTEL_EXPORTER_OTLP_ENDPOINT in the environment, such as http://collector:4318, sends a trace of each operation there.',
  ].join('\n');
}
