import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { create } from '@bufbuild/protobuf';
import type { Credentials } from '@valkey-operator/pki/verify';

import { CommandExecutor, type CommandExecutorOptions } from '../command-executor.ts';
import { CredentialHolder } from '../credential-source.ts';
import type { OperatorService } from '../gen/valkey/operator/v1/operator_service_pb.ts';
import { NodeReportSchema, type NodeReport } from '../gen/valkey/sidecar/v1/node_report_pb.ts';
import { connectToOperator } from '../operator-channel.ts';
import { createOperatorGateway, type OperatorGatewayOptions } from '../operator-gateway.ts';
import type { PeerRefusal } from '../peer.ts';
import type { RpcChannel } from '../rpc-channel.ts';
import { connectToSidecar } from '../sidecar-channel.ts';
import { createSidecarServer } from '../sidecar-server.ts';
import { TokenCache, type TokenOwner } from '../token-cache.ts';
import type { Installation } from './installation.ts';
import { sidecarId, trustDomain } from './installation.ts';

export const pod = { namespace: 'ns', cluster: 'vc', name: 'vc-0', uid: 'uid-0' } as const;

/** What the API server would say of these tokens. */
export const tokens: Readonly<Record<string, TokenOwner>> = {
  own: { namespace: 'ns', serviceAccount: 'vc', podName: 'vc-0', podUid: 'uid-0' },
  neighbour: { namespace: 'ns', serviceAccount: 'vc', podName: 'vc-1', podUid: 'uid-1' },
  otherCluster: { namespace: 'ns', serviceAccount: 'other', podName: 'other-0', podUid: 'uid-2' },
  otherNamespace: { namespace: 'elsewhere', serviceAccount: 'vc', podName: 'vc-0', podUid: 'uid-3' },
};

/** Servers and channels over 127.0.0.1, with everything that was refused on either side. */
export class Loopback implements AsyncDisposable {
  readonly refusals: PeerRefusal[] = [];
  readonly calls: string[] = [];
  onHeartbeat = (): void => {};
  /** What the servers take for the time of day. */
  now = (): Date => new Date();
  readonly #closers: Array<() => void | Promise<void>> = [];
  readonly #installation: Installation;

  constructor(installation: Installation) {
    this.#installation = installation;
  }

  /** An operator's gateway; answers with the port. */
  async gateway(options: Partial<OperatorGatewayOptions> = {}): Promise<string> {
    const server = createOperatorGateway({
      credentials: new CredentialHolder(await this.#installation.operator()),
      trustDomain,
      tokens: new TokenCache({ review: async (token) => tokens[token] }),
      isMember: (owner, { cluster }) => owner.serviceAccount === cluster,
      onRefused: this.onRefused,
      now: () => this.now(),
      implementation: {
        heartbeat: ({ report }) => {
          this.calls.push(report?.pod?.name ?? '');
          this.onHeartbeat();
          return { guidance: { leaderEpoch: 7n } };
        },
        reportEvent: () => ({}),
      },
      ...options,
    });
    this.#closers.push(() => server.close());
    return urlOf(await server.listen(0, '127.0.0.1'));
  }

  /** A sidecar's channel to a gateway. */
  operatorChannel(
    url: string,
    credentials: CredentialHolder | Credentials,
    token = 'own',
  ): RpcChannel<typeof OperatorService> {
    const folder = mkdtempSync(join(tmpdir(), 'rpc-token-'));
    const tokenFile = join(folder, 'token');
    writeFileSync(tokenFile, `${token}\n`);
    const channel = connectToOperator({
      url,
      credentials: hold(credentials),
      trustDomain,
      tokenFile,
      onRefused: this.onRefused,
    });
    this.#closers.push(channel.close, () => rmSync(folder, { recursive: true }));
    return channel;
  }

  /** A sidecar that serves; `report` sends a new report to all sessions. */
  async sidecar(options: Partial<CommandExecutorOptions> = {}, credentials?: CredentialHolder, port = 0) {
    const listeners = new Set<(report: NodeReport) => void>();
    const read = (sequence = 1n) => create(NodeReportSchema, { pod, sequence });
    const executor = new CommandExecutor({ handlers: {}, checkGuard: async () => undefined, ...options });
    const server = createSidecarServer({
      credentials: credentials ?? new CredentialHolder(await this.#installation.sidecar()),
      trustDomain,
      executor,
      reports: {
        read: async () => read(),
        subscribe: (listener) => {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      },
      onRefused: this.onRefused,
      now: () => this.now(),
    });
    this.#closers.push(() => server.close());
    const url = urlOf(await server.listen(port, '127.0.0.1'));
    const report = (sequence: bigint) => listeners.forEach((listener) => listener(read(sequence)));
    return { url, executor, report, listeners, close: () => server.close() };
  }

  /** The operator's channel to a sidecar. */
  sidecarChannel(url: string, credentials: CredentialHolder | Credentials) {
    const channel = connectToSidecar({
      url,
      credentials: hold(credentials),
      sidecar: sidecarId,
      onRefused: this.onRefused,
    });
    this.#closers.push(channel.close);
    return channel;
  }

  /** Why peers were turned away so far. */
  reasons(): string[] {
    return this.refusals.map(({ reason }) => reason);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const close of this.#closers.toReversed()) await close();
  }

  readonly onRefused = (refusal: PeerRefusal): void => {
    this.refusals.push(refusal);
  };
}

function hold(credentials: CredentialHolder | Credentials): CredentialHolder {
  return credentials instanceof CredentialHolder ? credentials : new CredentialHolder(credentials);
}

function urlOf({ port }: { port: number }): string {
  return `https://127.0.0.1:${port}`;
}
