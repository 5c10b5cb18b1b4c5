import { map, text } from '../schema/field.ts';
import { matches, type Rule } from '../schema/rule.ts';

interface OwnedSettings {
  readonly keys: readonly string[];
  readonly prefixes?: readonly string[];
  /** What a user does instead. */
  readonly instead: string;
}

const names = (text: string): readonly string[] => text.split(' ');

/** Settings that users cannot give in `config`, and why. */
export const ownedSettings: readonly OwnedSettings[] = [
  {
    keys: names('save appendonly appendfsync auto-aof-rewrite-percentage auto-aof-rewrite-min-size'),
    instead: 'use the field backup instead',
  },
  {
    keys: [
      ...names('repl-diskless-sync repl-diskless-sync-delay min-replicas-to-write min-replicas-max-lag'),
      ...names('min-slaves-to-write min-slaves-max-lag'),
    ],
    instead: 'use the field replication instead',
  },
  {
    keys: names('aclfile user requirepass masterauth masteruser primaryauth primaryuser'),
    instead: 'use the field acl instead',
  },
  { keys: [], prefixes: ['tls-'], instead: 'use the field tls instead' },
  {
    keys: [
      ...names('port bind bind-source-addr protected-mode unixsocket unixsocketperm unixsocketgroup'),
      ...names('daemonize supervised pidfile logfile shutdown-on-sigterm shutdown-on-sigint'),
      ...names('replicaof slaveof availability-zone import-mode'),
    ],
    prefixes: ['cluster-', 'rdma-', 'syslog-', 'replica-announce-', 'slave-announce-'],
    instead: 'the operator runs and connects the nodes',
  },
  {
    keys: [
      ...names('include loadmodule rename-command dir dbfilename appendfilename appenddirname'),
      ...names('enable-debug-command enable-module-command enable-protected-configs'),
    ],
    instead: 'it would let a setting read files, load code or lift protections',
  },
];

export const isOwnedSetting = (key: string): boolean =>
  ownedSettings.some(
    ({ keys, prefixes = [] }) => keys.includes(key) || prefixes.some((prefix) => key.startsWith(prefix)),
  );

// A rule per key, because a message that picked the offending keys out of the map would exceed the API server's budget.
function refuseOwned({ keys, prefixes = [], instead }: OwnedSettings): Rule[] {
  const refuse = (rule: string, name: string): Rule => ({
    rule,
    message: `must not set ${name}: ${instead}`,
    reason: 'FieldValueForbidden',
  });
  return [
    ...keys.map((key) => refuse(`!('${key}' in self)`, key)),
    ...prefixes.map((prefix) => refuse(`!self.exists(key, key.startsWith('${prefix}'))`, `${prefix}*`)),
  ];
}

const keysAreNames: Rule = {
  rule: "self.all(key, key.matches(r'^[a-z][-_a-z0-9]*$'))",
  message: 'must have keys of lower case letters, digits and "-", as Valkey names its settings',
};

// A line break or a quote would let a value add directives of its own to valkey.conf.
const value = text(
  'Value of the setting, as in valkey.conf. Put numbers and yes/no in quotes, or YAML does not read them as text.',
  {
    max: 1024,
    rules: [
      matches(
        String.raw`^[\x20-\x21\x23-\x26\x28-\x5B\x5D-\x7E]*$`,
        'must be printable ASCII without line breaks, quotes and backslashes',
      ),
    ],
  },
);

export const valkeyConfig = map(
  'Further settings of valkey.conf. What Valkey can set live is applied at once, the rest rolls the pods. Keys that the operator owns are refused.',
  value,
  { max: 128, rules: [...ownedSettings.flatMap(refuseOwned), keysAreNames] },
);
