import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import { beforeAll, describe, expect, it } from 'vitest';

import type { CommandHandlers } from './command-executor.ts';
import { failed } from './command-outcome.ts';
import { FailureReason, RefusalReason } from './gen/valkey/sidecar/v1/command_pb.ts';
import {
  SessionRequestSchema,
  StaleLeaderSchema,
  type SessionRequest,
} from './gen/valkey/sidecar/v1/sidecar_service_pb.ts';
import { MessageQueue } from './message-queue.ts';
import { CommandUnanswered, openSession } from './open-session.ts';
import { Installation } from './testing/installation.ts';
import { Loopback } from './testing/loopback.ts';

const hello = { leaderEpoch: 5n };
const save = { timeoutMs: 5000, guard: {}, payload: { case: 'save', value: {} } } as const;

let home: Installation;
beforeAll(async () => {
  home = await Installation.create();
});

async function connectedTo(net: Loopback, handlers: CommandHandlers = {}) {
  const sidecar = await net.sidecar({ handlers });
  const { client, close } = net.sidecarChannel(sidecar.url, await home.operator());
  return { sidecar, client, cut: close };
}

describe('a session', () => {
  it('begins with a report and delivers those that follow', async () => {
    await using net = new Loopback(home);
    const { sidecar, client } = await connectedTo(net);
    const sequences = new MessageQueue<bigint>();
    const session = await openSession(client, { hello, onReport: ({ sequence }) => sequences.push(sequence) });
    sidecar.report(2n);
    const received = sequences[Symbol.asyncIterator]();
    expect([(await received.next()).value, (await received.next()).value]).toEqual([1n, 2n]);
    expect(session.report?.sequence).toBe(2n);
    await session.close();
  });

  it('tells what a command has changed before it answers it', async () => {
    await using net = new Loopback(home);
    const { client } = await connectedTo(net, { save: { run: async () => undefined } });
    const order: string[] = [];
    const session = await openSession(client, { hello, onReport: () => order.push('report') });
    await session.send(save).then(() => order.push('answer'));
    expect(order).toEqual(['report', 'report', 'answer']);
    await session.close();
  });

  it('answers commands that were under way when it was closed, and stops reporting', async () => {
    await using net = new Loopback(home);
    const effect = Promise.withResolvers<void>();
    const { sidecar, client } = await connectedTo(net, { save: { run: () => effect.promise } });
    const session = await openSession(client, { hello });
    const answer = session.send(save);
    const closed = session.close();
    effect.resolve();
    expect((await answer).outcome.case).toBe('done');
    await closed;
    expect(sidecar.listeners.size).toBe(0);
    await expect(session.send(save)).rejects.toThrow(CommandUnanswered);
  });

  it('that is lost leaves its command unanswered; sent again in another one it gets the first answer', async () => {
    await using net = new Loopback(home);
    const begun = Promise.withResolvers<void>();
    const effect = Promise.withResolvers<void>();
    let runs = 0;
    const run = async () => {
      runs++;
      begun.resolve();
      await effect.promise;
      return failed(FailureReason.VALKEY_ERROR, 'MISCONF');
    };
    const { client, cut } = await connectedTo(net, { save: { run } });
    const first = await openSession(client, { hello });
    const unanswered = first.send({ ...save, id: 'save-1' });
    await begun.promise;
    cut();
    await expect(unanswered).rejects.toMatchObject({ name: 'CommandUnanswered', commandId: 'save-1' });
    expect(await first.over).toBeInstanceOf(ConnectError);

    const second = await openSession(client, { hello });
    const again = second.send({ ...save, id: 'save-1' });
    effect.resolve();
    expect(await again).toMatchObject({ replayed: true, outcome: { case: 'failure', value: { message: 'MISCONF' } } });
    expect(runs).toBe(1);
    await second.close();
  });

  it('is denied to a leader that has been replaced, which learns the epoch to go beyond', async () => {
    await using net = new Loopback(home);
    const { client } = await connectedTo(net);
    const current = await openSession(client, { hello });
    const stale = openSession(client, { hello: { leaderEpoch: 4n } });
    const error = await stale.catch((reason: unknown) => ConnectError.from(reason));
    expect(error).toMatchObject({ code: Code.FailedPrecondition });
    expect((error as ConnectError).findDetails(StaleLeaderSchema)[0]?.highestEpoch).toBe(5n);
    await current.close();
  });

  it('of a leader that is replaced while it lasts has its commands refused from then on', async () => {
    await using net = new Loopback(home);
    const { client } = await connectedTo(net, { save: { run: async () => undefined } });
    const old = await openSession(client, { hello });
    const successor = await openSession(client, { hello: { leaderEpoch: 6n } });
    expect((await old.send(save)).outcome).toMatchObject({
      case: 'refusal',
      value: { reason: RefusalReason.STALE_EPOCH, highestEpoch: 6n },
    });
    expect((await successor.send(save)).outcome.case).toBe('done');
    await Promise.all([old.close(), successor.close()]);
  });

  it('must begin with hello', async () => {
    await using net = new Loopback(home);
    const { client } = await connectedTo(net);
    const requests = new MessageQueue<SessionRequest>();
    requests.push(create(SessionRequestSchema, { message: { case: 'command', value: {} } }));
    const answers = client.session(requests)[Symbol.asyncIterator]();
    await expect(answers.next()).rejects.toMatchObject({ code: Code.InvalidArgument });
  });

  it('ends as unavailable when the sidecar shuts down', async () => {
    await using net = new Loopback(home);
    const { sidecar, client } = await connectedTo(net);
    const session = await openSession(client, { hello });
    await sidecar.close();
    expect(await session.over).toMatchObject({ code: Code.Unavailable });
  });
});
