import { type SlotRange, SlotSet } from './slots/slot-set.ts';

export interface OpenSlot {
  readonly slot: number;
  readonly direction: 'migrating' | 'importing';
  /** The node it goes to (migrating) or comes from (importing). */
  readonly peer: string;
}

export interface ClusterNode {
  readonly id: string;
  /** Empty while the node has no known address. */
  readonly ip: string;
  readonly port: number;
  readonly busPort: number;
  readonly hostname: string;
  /** Only in nodes.conf: shard-id, nodename, availability-zone, tls-port, ... */
  readonly aux: ReadonlyMap<string, string>;
  readonly myself: boolean;
  readonly role: 'primary' | 'replica' | 'unknown';
  /** Primary's id, for a replica that knows it. */
  readonly primaryId: string | undefined;
  /** `suspected` is PFAIL, this node's own view; `failed` is agreed by the majority. */
  readonly health: 'ok' | 'suspected' | 'failed';
  readonly handshake: boolean;
  readonly noAddress: boolean;
  /** This replica has said that it must not be promoted. */
  readonly noFailover: boolean;
  /** Milliseconds since the epoch; 0 when no ping is pending, or no pong has ever come. */
  readonly pingSentAt: number;
  readonly pongReceivedAt: number;
  readonly configEpoch: number;
  readonly linkConnected: boolean;
  readonly slots: SlotSet;
  /** A node tells only its own. */
  readonly openSlots: readonly OpenSlot[];
}

export class ClusterNodesSyntaxError extends Error {
  override readonly name = 'ClusterNodesSyntaxError';

  constructor(line: string) {
    super(`not a line of CLUSTER NODES: ${JSON.stringify(line.slice(0, 200))}`);
  }
}

/** Reads CLUSTER NODES, and nodes.conf, which has the same lines and more fields. */
export function parseClusterNodes(text: string): ClusterNode[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('vars '))
    .map(parseNode);
}

const endpointPattern = /^(.*):(\d+)(?:@(\d+))?$/;
const openSlotPattern = /^\[(\d+)-([<>])-(.+)\]$/;
const rangePattern = /^(\d+)(?:-(\d+))?$/;

function parseNode(line: string): ClusterNode {
  const [id, address, flagWords, primaryId, pingSent, pongReceived, epoch, link, ...slotWords] = line.split(' ');
  if (id === undefined || address === undefined || flagWords === undefined || link === undefined) {
    throw new ClusterNodesSyntaxError(line);
  }
  const [endpoint = '', hostname = '', ...auxWords] = address.split(',');
  const [, ip, port, busPort] = endpointPattern.exec(endpoint) ?? [];
  if (ip === undefined) throw new ClusterNodesSyntaxError(line);
  const flags = new Set(flagWords.split(','));

  const ranges: SlotRange[] = [];
  const openSlots: OpenSlot[] = [];
  for (const word of slotWords) {
    const [, first, last = first] = rangePattern.exec(word) ?? [];
    if (first !== undefined) ranges.push([Number(first), Number(last)]);
    else openSlots.push(parseOpenSlot(word, line));
  }

  return {
    id,
    ip,
    port: Number(port),
    busPort: Number(busPort ?? 0),
    hostname,
    aux: new Map(auxWords.map(splitAux)),
    myself: flags.has('myself'),
    role: readRole(flags),
    primaryId: primaryId === '-' ? undefined : primaryId,
    health: readHealth(flags),
    handshake: flags.has('handshake'),
    noAddress: flags.has('noaddr'),
    noFailover: flags.has('nofailover'),
    pingSentAt: Number(pingSent),
    pongReceivedAt: Number(pongReceived),
    configEpoch: Number(epoch),
    linkConnected: link === 'connected',
    slots: SlotSet.of(ranges),
    openSlots,
  };
}

function parseOpenSlot(word: string, line: string): OpenSlot {
  const [, slot, arrow, peer] = openSlotPattern.exec(word) ?? [];
  if (peer === undefined) throw new ClusterNodesSyntaxError(line);
  return { slot: Number(slot), direction: arrow === '>' ? 'migrating' : 'importing', peer };
}

function splitAux(word: string): [string, string] {
  const equals = word.indexOf('=');
  return equals === -1 ? [word, ''] : [word.slice(0, equals), word.slice(equals + 1)];
}

/** Valkey still says master and slave here. */
function readRole(flags: ReadonlySet<string>): ClusterNode['role'] {
  if (flags.has('master')) return 'primary';
  return flags.has('slave') ? 'replica' : 'unknown';
}

function readHealth(flags: ReadonlySet<string>): ClusterNode['health'] {
  if (flags.has('fail')) return 'failed';
  return flags.has('fail?') ? 'suspected' : 'ok';
}
