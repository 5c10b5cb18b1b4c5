import type { Verdict } from './readiness.ts';
import type { ValkeyFacts } from './valkey-facts.ts';
import type { ProcessView } from './valkey-watch.ts';

export interface MetricsInput {
  readonly view: ProcessView;
  readonly facts: ValkeyFacts | undefined;
  readonly readiness: Verdict;
  readonly heartbeats: { readonly sent: number; readonly failed: number; readonly lastSeconds: number };
  readonly eventsWaiting: number;
  readonly commands: ReadonlyMap<string, number>;
  readonly refusals: ReadonlyMap<string, number>;
  readonly certificateExpiry: Date | undefined;
}

const PHASES = ['absent', 'gated', 'starting', 'loading', 'running', 'unresponsive', 'exited'] as const;

/**
 * The text that Prometheus reads. A dozen values that are all at hand need no registry; a metrics library would be the
 * third largest thing in the sidecar. Of Valkey itself the exporter tells.
 */
export function renderMetrics(input: MetricsInput): string {
  const { view, heartbeats } = input;
  const labelled = (label: string, counts: ReadonlyMap<string, number>) =>
    [...counts].map(([value, count]): Sample => [count, { [label]: value }]);
  const only = (value: number): Sample[] => [[value, {}]];
  const phases = PHASES.map((phase): Sample => [phase === view.phase ? 1 : 0, { phase }]);
  const families: Family[] = [
    ['valkey_sidecar_process_phase', 'gauge', 'What state the Valkey process is in.', phases],
    ['valkey_sidecar_ready', 'gauge', 'Whether the node serves its role.', only(input.readiness.ok ? 1 : 0)],
    ['valkey_sidecar_valkey_restarts_total', 'counter', 'Starts of Valkey after the first.', only(view.restarts)],
    ['valkey_sidecar_heartbeats_total', 'counter', 'Heartbeats that the operator took.', only(heartbeats.sent)],
    ['valkey_sidecar_heartbeat_failures_total', 'counter', 'Heartbeats that failed.', only(heartbeats.failed)],
    ['valkey_sidecar_heartbeat_seconds', 'gauge', 'How long the last one took.', only(heartbeats.lastSeconds)],
    ['valkey_sidecar_events_waiting', 'gauge', 'Events not delivered yet.', only(input.eventsWaiting)],
    ['valkey_sidecar_commands_total', 'counter', 'Commands by outcome.', labelled('outcome', input.commands)],
    ['valkey_sidecar_peers_refused_total', 'counter', 'Callers turned away.', labelled('reason', input.refusals)],
    [
      'valkey_sidecar_certificate_expiry_timestamp_seconds',
      'gauge',
      'When the certificate in use ends.',
      input.certificateExpiry ? only(input.certificateExpiry.getTime() / 1000) : [],
    ],
    ['valkey_sidecar_keys', 'gauge', 'Keys of the node.', keysOf(input.facts)],
  ];
  return families.map(renderFamily).join('');
}

type Sample = readonly [value: number, labels: Readonly<Record<string, string>>];
type Family = readonly [name: string, type: 'gauge' | 'counter', help: string, samples: readonly Sample[]];

function renderFamily([name, type, help, samples]: Family): string {
  const lines = samples.map(([value, labels]) => `${name}${renderLabels(labels)} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

/** Values are words of ours and hold nothing that would need escaping. */
function renderLabels(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function keysOf(facts: ValkeyFacts | undefined): Sample[] {
  return facts?.info.keyCount === undefined ? [] : [[facts.info.keyCount, {}]];
}
