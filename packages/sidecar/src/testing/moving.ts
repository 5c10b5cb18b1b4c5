import { type RespValue, SlotSet } from '@valkey-operator/valkey';
import { connect } from '@valkey-operator/valkey/connection';
import type { MoveOrder } from '../slot-move/move.ts';
import { SlotMover } from '../slot-move/slot-mover.ts';
import { FakeValkey } from './fake-valkey.ts';

/** Until a move has ended. */
export const WAIT = { timeout: 20_000 };

/** A Valkey that notes what it is told, and answers what the script says, else OK. */
async function startValkey(script: (command: string) => RespValue | undefined) {
  const commands: string[] = [];
  const valkey = new FakeValkey((command) => {
    if (!/^(CLIENT|EVAL_RO|INFO replication|CLUSTER NODES|FUNCTION LIST)/.test(command)) commands.push(command);
    return script(command) ?? defaultAnswer(command);
  });
  await valkey.start();
  return { valkey, commands };
}

function defaultAnswer(command: string): RespValue {
  if (command === 'CLUSTER NODES') return tableWith('master');
  if (command === 'INFO replication') return historyOf('first');
  if (command === 'FUNCTION LIST') return [];
  return command.startsWith('EVAL_RO') ? [[countMeasured(command), 1]] : 'OK';
}

/** How many keys it is asked to divide into batches. */
export function countMeasured(command: string): number {
  return Number(/\nreturn batches (\d+) /.exec(command)?.[1]);
}

/** What the source says of the target, and of its own slots: `open` has the words for those on their way. */
export const tableWith = (flags: string, open = '') =>
  `source 10.0.0.1:6379@16379 myself,master - 0 0 3 connected 0-99 ${open}\n` +
  `target 10.0.0.2:6379@16379 ${flags} - 0 0 4 connected\n`;

/** How Valkey calls its data: by another name once it has started anew, or a replica has taken over. */
export const historyOf = (name: string) => `# Replication\r\nrole:master\r\nmaster_replid:${name}\r\n`;

export function anOrder(change: Partial<MoveOrder> = {}): MoveOrder {
  return {
    slots: SlotSet.of([[0, 3]]),
    target: { nodeId: 'target', ip: '10.0.0.2', port: 6379 },
    method: 'atomic',
    keysAtOnce: 100,
    timeLimitMs: 60_000,
    ...change,
  };
}

/** A mover between two such Valkeys, and what each of them is told. */
export async function moving(
  {
    source,
    target = () => undefined,
  }: Record<'source', (command: string) => RespValue | undefined> & {
    target?: (command: string) => RespValue | undefined;
  },
  use: (mover: SlotMover, seen: { source: string[]; target: string[] }) => Promise<void>,
) {
  const [from, to] = [await startValkey(source), await startValkey(target)];
  await using stack = new AsyncDisposableStack();
  for (const { valkey } of [from, to]) stack.use(valkey);
  const open = (valkey: FakeValkey) => connect({ address: { path: valkey.path }, timeoutMs: 5000 });
  const mover = new SlotMover({
    openSource: () => open(from.valkey),
    openTarget: () => open(to.valkey),
    onEnd: () => undefined,
  });
  await use(mover, { source: from.commands, target: to.commands });
}

/** As CLUSTER SLOT-STATS answers. */
export function countEach(command: string, count: (slot: number) => number): RespValue {
  const [first = 0, last = 0] = command.split(' ').slice(-2).map(Number);
  return Array.from(SlotSet.of([[first, last]]), (slot) => [slot, new Map([['key-count', count(slot)]])]);
}
