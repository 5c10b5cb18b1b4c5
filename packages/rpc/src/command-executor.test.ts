import { create, fromBinary, toBinary, type MessageInitShape } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { durationFromMs } from '@bufbuild/protobuf/wkt';
import * as fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { CommandExecutor, type CommandExecutorOptions, type CommandHandlers } from './command-executor.ts';
import { done } from './command-outcome.ts';
import {
  CommandSchema,
  FailoverMode,
  FailureReason,
  GuardMismatchSchema,
  RefusalReason,
  type Command,
} from './gen/valkey/sidecar/v1/command_pb.ts';

afterEach(() => {
  vi.useRealTimers();
});

const command = (init: MessageInitShape<typeof CommandSchema> = {}): Command =>
  create(CommandSchema, {
    id: 'a',
    leaderEpoch: 1n,
    timeout: durationFromMs(5000),
    payload: { case: 'save', value: {} },
    ...init,
  });

type CheckGuard = CommandExecutorOptions['checkGuard'];
const guardHolds: CheckGuard = async () => undefined;
const executorOf = (handlers: CommandHandlers, checkGuard = guardHolds) =>
  new CommandExecutor({ handlers, checkGuard });
const mismatch = () => create(GuardMismatchSchema, { fact: 'role', expected: 'ROLE_REPLICA', actual: 'ROLE_PRIMARY' });

describe('a command', () => {
  it('that arrives several times, at once and later, runs once and has one answer', async () => {
    const run = vi.fn(async () => done({ unchanged: true }));
    const executor = executorOf({ save: { run } });
    const first = await Promise.all([executor.execute(command()), executor.execute(command())]);
    const later = await executor.execute(command({ leaderEpoch: 2n, timeout: durationFromMs(1) }));
    expect(run).toHaveBeenCalledOnce();
    expect(first.map(({ replayed }) => replayed)).toEqual([false, true]);
    expect(later).toEqual({ ...first[0], replayed: true });
  });

  it('keeps its first answer also when that was a refusal', async () => {
    const checkGuard = vi.fn(guardHolds).mockResolvedValueOnce(mismatch());
    const executor = executorOf({ save: { run: async () => undefined } }, checkGuard);
    const guarded = command({ guard: { nodeId: 'x' } });
    expect((await executor.execute(guarded)).outcome.case).toBe('refusal');
    expect(await executor.execute(guarded)).toMatchObject({ replayed: true, outcome: { case: 'refusal' } });
  });

  it('is not mistaken for another one that has the same id', async () => {
    const executor = executorOf({ save: { run: async () => undefined } });
    await executor.execute(command());
    const { outcome } = await executor.execute(command({ payload: { case: 'reset', value: { hard: true } } }));
    expect(outcome).toMatchObject({ case: 'refusal', value: { reason: RefusalReason.ID_REUSED } });
  });

  it('whose guard does not hold is refused with the fact, and nothing has happened', async () => {
    const run = vi.fn(async () => undefined);
    const { outcome } = await executorOf({ save: { run } }, async () => mismatch()).execute(command({ guard: {} }));
    expect(run).not.toHaveBeenCalled();
    expect(outcome).toMatchObject({
      case: 'refusal',
      value: { reason: RefusalReason.GUARD, guard: { fact: 'role', expected: 'ROLE_REPLICA', actual: 'ROLE_PRIMARY' } },
    });
  });

  it('whose guard cannot be checked has failed without effect', async () => {
    const run = vi.fn(async () => undefined);
    const executor = executorOf({ save: { run } }, () => Promise.reject(new Error('ECONNREFUSED')));
    const { outcome } = await executor.execute(command({ guard: {} }));
    expect(run).not.toHaveBeenCalled();
    expect(outcome).toMatchObject({
      case: 'failure',
      value: { reason: FailureReason.VALKEY_UNREACHABLE, noEffect: true },
    });
  });

  it('whose handler throws has failed, and whether it had an effect is not known', async () => {
    const { outcome } = await executorOf({ save: { run: () => Promise.reject(new Error('bug')) } }).execute(command());
    expect(outcome).toMatchObject({ case: 'failure', value: { reason: FailureReason.INTERNAL, message: 'bug' } });
    expect(outcome.case === 'failure' && outcome.value.noEffect).toBeUndefined();
  });

  it.each([
    ['id', { id: '' }],
    ['payload', { payload: { case: undefined } }],
    ['timeout', { timeout: durationFromMs(0) }],
  ] as const)('without %s is refused', async (_, part) => {
    const { outcome } = await executorOf({ save: { run: async () => undefined } }).execute(command(part));
    expect(outcome).toMatchObject({ case: 'refusal', value: { reason: RefusalReason.INVALID } });
  });
});

describe('the leader’s epoch', () => {
  it('lets through exactly the commands that are not below any before them', async () => {
    const epochs = fc.array(fc.bigInt({ min: 0n, max: 5n }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(epochs, async (sequence) => {
        const executor = executorOf({ save: { run: async () => undefined } });
        let highest = 0n;
        for (const [index, leaderEpoch] of sequence.entries()) {
          const { outcome } = await executor.execute(command({ id: `c${index}`, leaderEpoch }));
          expect(outcome.case).toBe(leaderEpoch < highest ? 'refusal' : 'done');
          highest = leaderEpoch > highest ? leaderEpoch : highest;
          expect(executor.leaderEpoch).toBe(highest);
        }
      }),
      { numRuns: 30 },
    );
  });

  it('is looked at again when the turn of a waiting command has come', async () => {
    const gate = Promise.withResolvers<void>();
    const run = vi.fn(() => gate.promise);
    const executor = executorOf({ save: { run } });
    const first = executor.execute(command({ id: 'first' }));
    const waiting = executor.execute(command({ id: 'waiting' }));
    await vi.waitFor(() => expect(run).toHaveBeenCalled(), { timeout: 20_000 });
    executor.observeEpoch(2n);
    gate.resolve();
    expect((await first).outcome.case).toBe('done');
    expect((await waiting).outcome).toMatchObject({ value: { reason: RefusalReason.STALE_EPOCH, highestEpoch: 2n } });
    expect(run).toHaveBeenCalledOnce();
  });
});

describe('an operator of a newer version', () => {
  const run = vi.fn(async () => undefined);
  const executor = executorOf({ failover: { run } });
  const withExtra = (bytes: Uint8Array) => {
    const extra = new BinaryWriter().tag(999, WireType.Varint).uint32(1).finish();
    return Buffer.concat([bytes, extra]);
  };
  const failover = (id: string, mode: FailoverMode = FailoverMode.FORCE) =>
    command({ id, payload: { case: 'failover', value: { mode } } });

  afterEach(() => {
    expect(run).not.toHaveBeenCalled();
  });

  it('hears "unsupported" for a payload that this sidecar has never heard of', async () => {
    const unknown = fromBinary(
      CommandSchema,
      withExtra(toBinary(CommandSchema, command({ id: 'u1', payload: { case: undefined } }))),
    );
    const { outcome } = await executor.execute(unknown);
    expect(outcome).toMatchObject({ case: 'refusal', value: { reason: RefusalReason.UNSUPPORTED } });
  });

  it('hears "unsupported" for a payload that this sidecar has no handler for', async () => {
    const { outcome } = await executor.execute(command({ id: 'u2' }));
    expect(outcome).toMatchObject({
      value: { reason: RefusalReason.UNSUPPORTED, message: expect.stringContaining('save') },
    });
  });

  it('hears "unsupported" for a new fact in the guard, which would otherwise go unchecked', async () => {
    const guard = Buffer.concat([
      new BinaryWriter().tag(4, WireType.LengthDelimited).bytes(withExtra(new Uint8Array())).finish(),
    ]);
    const unknown = fromBinary(CommandSchema, Buffer.concat([toBinary(CommandSchema, failover('u3')), guard]));
    const { outcome } = await executor.execute(unknown);
    expect(outcome).toMatchObject({ value: { message: 'this sidecar does not know field 999 of Guard' } });
  });

  it('hears "unsupported" for a new value of an enum', async () => {
    const { outcome } = await executor.execute(failover('u4', 42 as FailoverMode));
    expect(outcome).toMatchObject({ value: { message: 'this sidecar does not know 42 in Failover.mode' } });
  });
});

describe('the deadline', () => {
  it('refuses a command that could not begin, and fails one that did not end', async () => {
    vi.useFakeTimers();
    const gate = Promise.withResolvers<void>();
    const signals: AbortSignal[] = [];
    const run = vi.fn((_: unknown, { signal }: { signal: AbortSignal }) => {
      signals.push(signal);
      return gate.promise;
    });
    const executor = executorOf({ save: { run } });
    const running = executor.execute(command({ id: 'running' }));
    const waiting = executor.execute(command({ id: 'waiting' }));
    await vi.advanceTimersByTimeAsync(5000);
    expect((await running).outcome).toMatchObject({ case: 'failure', value: { reason: FailureReason.TIMED_OUT } });
    expect((await waiting).outcome).toMatchObject({ case: 'refusal', value: { reason: RefusalReason.DEADLINE } });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);

    gate.resolve();
    const next = await executor.execute(command({ id: 'next' }));
    expect(next.outcome.case).toBe('done');
    expect(run).toHaveBeenCalledTimes(2);
    expect(await executor.execute(command({ id: 'running' }))).toMatchObject({
      replayed: true,
      outcome: { case: 'failure' },
    });
  });
});

describe('commands one after another', () => {
  it('have the node for themselves, unless their handler lets others begin', async () => {
    const gates = { save: Promise.withResolvers<void>(), moveSlots: Promise.withResolvers<void>() };
    const begun: string[] = [];
    const handler = (kind: 'save' | 'moveSlots') => async () => {
      begun.push(kind);
      await gates[kind].promise;
    };
    const executor = executorOf({
      moveSlots: { run: handler('moveSlots'), concurrent: true },
      save: { run: handler('save') },
      cancelMove: { run: async () => void begun.push('cancel') },
    });
    const migrating = executor.execute(command({ id: '1', payload: { case: 'moveSlots', value: {} } }));
    const saving = executor.execute(command({ id: '2' }));
    const cancelling = executor.execute(command({ id: '3', payload: { case: 'cancelMove', value: {} } }));
    await vi.waitFor(() => expect(begun).toEqual(['moveSlots', 'save']), { timeout: 20_000 });
    gates.save.resolve();
    await Promise.all([saving, cancelling]);
    expect(begun).toEqual(['moveSlots', 'save', 'cancel']);
    gates.moveSlots.resolve();
    expect((await migrating).outcome.case).toBe('done');
  });

  it('are remembered in a bounded number, the one under way always', async () => {
    const gate = Promise.withResolvers<void>();
    const runs: string[] = [];
    const executor = executorOf({
      moveSlots: { run: () => gate.promise, concurrent: true },
      save: { run: async (_, { command: { id } }) => void runs.push(id) },
    });
    const migration = command({ id: 'long', payload: { case: 'moveSlots', value: {} } });
    const running = executor.execute(migration);
    for (let n = 0; n < 300; n++) await executor.execute(command({ id: `s${n}` }));
    await executor.execute(command({ id: 's299' }));
    await executor.execute(command({ id: 's0' }));
    expect(runs).toHaveLength(301);
    const again = executor.execute(migration);
    gate.resolve();
    expect([(await running).replayed, (await again).replayed]).toEqual([false, true]);
  });
});
