import { renderConf, type ConfSettings } from '@valkey-operator/valkey';
import type { Environment } from './environment.ts';
import { paths, ports } from './paths.ts';
import type { NodeSettings } from './settings.ts';

/** Used when the settings say nothing. */
const defaults: ConfSettings = {
  'cluster-node-timeout': 5000,
  // A lost shard must not stop the others. A node in a minority stops serving all the same: that rule is another one.
  'cluster-require-full-coverage': false,
  // A replica that has nothing yet reads what its primary sends, instead of writing it to its disk first.
  'repl-diskless-load': 'on-empty-db',
};

/** Directives that the settings cannot change. Every supported version knows all of them: an unknown one is fatal at start. */
function ownedDirectives({ pod, service, zone }: Environment): ConfSettings {
  return {
    port: ports.valkey,
    'protected-mode': false,
    daemonize: false,
    supervised: 'no',
    'enable-debug-command': 'no',
    'enable-module-command': 'no',
    unixsocket: paths.socket,
    unixsocketperm: '770',
    'cluster-enabled': true,
    // Stated, because turning TLS on would move it.
    'cluster-port': ports.valkeyBus,
    'cluster-config-file': 'nodes.conf',
    'cluster-announce-ip': pod.ip,
    'cluster-announce-hostname': `${pod.name}.${service}.${pod.namespace}.svc`,
    'cluster-announce-human-nodename': pod.name,
    // Replicas are placed by the operator; Valkey would also move a drained primary and its replica to the target.
    'cluster-allow-replica-migration': false,
    // Without persistence, what a replica wrote to disk to copy its primary is an old state that no start may fall back to.
    'rdb-del-sync-files': true,
    ...(zone !== '' && { 'availability-zone': zone }),
  };
}

/**
 * valkey.conf in two parts. The first is written as soon as Valkey waits at the gate and is no valid file by itself (its
 * quote is open): should the sidecar die before it has decided, Valkey reads just that and exits, instead of starting
 * without cluster, gate and data as it would on an empty file.
 */
export interface NodeConf {
  readonly opening: string;
  readonly rest: string;
}

export const CONF_OPENING = 'dir "';

export function renderNodeConf({ settings }: NodeSettings, environment: Environment): NodeConf {
  const owned = ownedDirectives(environment);
  const given = Object.entries(settings).filter(([name]) => name !== 'dir' && !(name in owned));
  const single = given.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  const repeated = given.flatMap(([name, value]) =>
    typeof value === 'string' ? [] : value.map((each) => renderConf({ [name]: each })),
  );
  const named = Object.fromEntries(Object.entries(defaults).filter(([name]) => !(name in settings)));
  const body = renderConf({ ...named, ...Object.fromEntries(single), ...owned });
  return { opening: CONF_OPENING, rest: `${paths.data}"\n${body}${repeated.join('')}` };
}

export function nodeTimeoutMs({ settings }: NodeSettings): number {
  const given = Number(settings['cluster-node-timeout'] ?? defaults['cluster-node-timeout']);
  return Number.isFinite(given) && given > 0 ? given : Number(defaults['cluster-node-timeout']);
}
