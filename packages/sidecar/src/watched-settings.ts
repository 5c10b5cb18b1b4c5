import { expectMap, expectText, type RespValue } from '@valkey-operator/valkey';

export type Values = Readonly<Record<string, string>>;

/** Valkey tells a setting under its old name too, and to set both at once would be to say two things. */
const OLD_NAME = /slave|^master(auth|user)$|ziplist|^lua-time-limit$|_/;
/** It follows the role of the node. */
const RESTLESS = 'replicaof';
/** What a person turns to look closer, and turns back; nothing that is kept or served depends on it. */
const OBSERVATION = /^(loglevel|slowlog-|commandlog-|latency-|acllog-)/;
/** In place of a secret: that there is one may be told, but what it was cannot be put back. */
export const HIDDEN = '(secret)';
const SECRET = /^(requirepass|primaryauth)$|-file-pass$/;

/** Whether somebody else's CONFIG SET of it is drift, also when no spec names it: it could evict, lose or open data, or keep a failover away. */
function isWatched(name: string): boolean {
  return !OLD_NAME.test(name) && name !== RESTLESS && !OBSERVATION.test(name);
}

/** What Valkey runs with of all that is watched, and of what is named. */
export async function readValues(
  call: (...args: string[]) => Promise<RespValue>,
  named: readonly string[],
): Promise<Record<string, string>> {
  const answer = expectMap(await call('CONFIG', 'GET', '*'));
  const all = Array.from(answer, ([name, value]) => [expectText(name), expectText(value)] as const);
  const chosen = all.filter(([name]) => isWatched(name) || named.includes(name));
  return Object.fromEntries(chosen.map(([name, value]) => [name, value !== '' && SECRET.test(name) ? HIDDEN : value]));
}
