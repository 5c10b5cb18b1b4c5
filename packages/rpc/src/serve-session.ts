import { create } from '@bufbuild/protobuf';
import { Code, ConnectError, type ServiceImpl } from '@connectrpc/connect';

import type { CommandExecutor } from './command-executor.ts';
import type { NodeReport } from './gen/valkey/sidecar/v1/node_report_pb.ts';
import {
  SessionResponseSchema,
  type Hello,
  type SessionRequest,
  type SessionResponse,
  type SidecarService,
} from './gen/valkey/sidecar/v1/sidecar_service_pb.ts';
import { MessageQueue } from './message-queue.ts';
import { staleLeaderError } from './stale-leader.ts';

/** The reports of this sidecar. */
export interface ReportSource {
  /** A fresh one. */
  read(): Promise<NodeReport>;
  /** Calls `listener` whenever something has changed, until the returned function is called. */
  subscribe(listener: (report: NodeReport) => void): () => void;
}

export function implementSidecarService(
  executor: CommandExecutor,
  reports: ReportSource,
): ServiceImpl<typeof SidecarService> {
  return {
    getStatus: async () => ({ report: await reports.read() }),
    session: (requests, { signal }) => serveSession(requests, executor, reports, signal),
  };
}

async function* serveSession(
  requests: AsyncIterable<SessionRequest>,
  executor: CommandExecutor,
  reports: ReportSource,
  signal: AbortSignal,
): AsyncGenerator<SessionResponse> {
  const outbox = new MessageQueue<SessionResponse>();
  const cleanups: Array<() => void> = [];
  // The caller has gone, or this sidecar is shutting down.
  signal.addEventListener('abort', () => outbox.fail(signal.reason), { once: true });
  receive().then(
    () => outbox.close(),
    (error: unknown) => outbox.fail(error),
  );
  try {
    yield* outbox;
  } finally {
    for (const cleanup of cleanups) cleanup();
  }

  async function receive(): Promise<void> {
    const underWay = new Set<Promise<void>>();
    let greeted = false;
    for await (const { message } of requests) {
      if (!greeted) {
        greet(message.case === 'hello' ? message.value : undefined);
        greeted = true;
        cleanups.push(reports.subscribe(sendReport));
        sendReport(await reports.read());
      } else if (message.case === 'command') {
        const answered = executor.execute(message.value).then(async (value) => {
          // What a command has changed is told before its answer, so that nobody plans on from what was before.
          await reports.read().then(sendReport, () => undefined);
          outbox.push(create(SessionResponseSchema, { message: { case: 'result', value } }));
          underWay.delete(answered);
        });
        underWay.add(answered);
      }
    }
    await Promise.all(underWay);
  }

  function greet(hello: Hello | undefined): void {
    if (!hello) throw new ConnectError('a session begins with hello', Code.InvalidArgument);
    if (executor.observeEpoch(hello.leaderEpoch)) return;
    throw staleLeaderError(hello.leaderEpoch, executor.leaderEpoch);
  }

  /** A slow reader is sent the newest report only: the ones it has missed tell it nothing more. */
  function sendReport(value: NodeReport): void {
    const response = create(SessionResponseSchema, { message: { case: 'report', value } });
    outbox.push(response, (waiting) => waiting.message.case === 'report');
  }
}
