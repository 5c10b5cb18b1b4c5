import { create } from '@bufbuild/protobuf';
import { durationMs } from '@bufbuild/protobuf/wkt';
import { HeartbeatRequestSchema, ReportEventRequestSchema, type Guidance, type NodeReport } from '@valkey-operator/rpc';
import {
  connectToOperator,
  findNotLeader,
  type CredentialSource,
  type OnPeerRefused,
} from '@valkey-operator/rpc/sidecar';
import { exponentialBackOff } from '@valkey-operator/valkey/connection';
import type { Environment } from './environment.ts';
import { EventOutbox } from './event-outbox.ts';
import { startHeartbeat } from './heartbeat.ts';
import type { Log } from './log.ts';
import { paths } from './paths.ts';

export interface OperatorLinkOptions {
  readonly environment: Environment;
  readonly log: Log;
  readonly report: () => Promise<NodeReport>;
  readonly onEpoch: (epoch: bigint) => void;
  readonly onStayConnected: (forMs: number) => void;
  readonly onRefused: OnPeerRefused;
}

type Channel = ReturnType<typeof connectToOperator>;

const CALL_TIMEOUT_MS = 10_000;
const EVENT_TIMEOUT_MS = 5000;

/** The sidecar's end of the way to the operator: heartbeats, and events at once. Without an operator it costs a call a minute. */
export class OperatorLink {
  readonly events: EventOutbox;
  readonly heartbeats = { sent: 0, failed: 0, lastSeconds: 0 };
  readonly #options: OperatorLinkOptions;
  readonly #channel = Promise.withResolvers<Channel>();
  #stopHeartbeat: () => void = () => undefined;
  #wasFailing = false;

  constructor(options: OperatorLinkOptions) {
    this.#options = options;
    this.events = new EventOutbox({
      deliver: async (event) => {
        const { client } = await this.#channel.promise;
        const request = create(ReportEventRequestSchema, { event, report: await options.report() });
        this.#follow((await client.reportEvent(request, { timeoutMs: EVENT_TIMEOUT_MS })).guidance);
      },
      backOff: exponentialBackOff(200, 30_000, Math.random),
    });
  }

  /** Once there are credentials. */
  open(credentials: CredentialSource): void {
    const { environment, onRefused } = this.#options;
    const url = `https://${environment.operatorAddress}`;
    const { trustDomain } = environment;
    const channel = connectToOperator({ url, credentials, trustDomain, tokenFile: paths.token, onRefused });
    this.#channel.resolve(channel);
    this.#stopHeartbeat = startHeartbeat({
      send: () => this.#beat(channel),
      onFailure: (error) => this.#noteFailure(error),
    });
  }

  async close(): Promise<void> {
    this.#stopHeartbeat();
    const pending = Symbol('pending');
    const channel = await Promise.race([this.#channel.promise, Promise.resolve(pending)]);
    if (typeof channel !== 'symbol') channel.close();
  }

  async #beat({ client }: Channel): Promise<{ nextMs: number | undefined }> {
    const startedAt = Date.now();
    const request = create(HeartbeatRequestSchema, { report: await this.#options.report() });
    const { guidance } = await client.heartbeat(request, { timeoutMs: CALL_TIMEOUT_MS });
    this.heartbeats.sent += 1;
    this.heartbeats.lastSeconds = (Date.now() - startedAt) / 1000;
    if (this.#wasFailing) this.#options.log.info('the operator answers again');
    this.#wasFailing = false;
    this.#follow(guidance);
    return { nextMs: guidance?.nextHeartbeat && durationMs(guidance.nextHeartbeat) };
  }

  #follow(guidance: Guidance | undefined): void {
    if (!guidance) return;
    this.#options.onEpoch(guidance.leaderEpoch);
    if (guidance.stayConnected) this.#options.onStayConnected(durationMs(guidance.stayConnected));
  }

  /** Logged once until it works again: an operator that is away for a day must not fill the log. */
  #noteFailure(error: unknown): void {
    this.heartbeats.failed += 1;
    if (this.#wasFailing || findNotLeader(error)) return;
    this.#wasFailing = true;
    this.#options.log.warn('the operator does not answer', { error });
  }
}
