import { OperatorService } from './gen/valkey/operator/v1/operator_service_pb.ts';
import { attachPodToken } from './pod-token.ts';
import { createRpcChannel, type RpcChannel, type RpcChannelOptions } from './rpc-channel.ts';

export interface OperatorChannelOptions extends Omit<RpcChannelOptions, 'admits' | 'interceptors'> {
  readonly trustDomain: string;
  /** The projected, audience-bound service-account token of this pod. */
  readonly tokenFile: string;
}

/** A sidecar's way to the operator. */
export function connectToOperator({
  trustDomain,
  tokenFile,
  ...options
}: OperatorChannelOptions): RpcChannel<typeof OperatorService> {
  return createRpcChannel(OperatorService, {
    ...options,
    admits: (id) => id.kind === 'operator' && id.trustDomain === trustDomain,
    interceptors: [attachPodToken(tokenFile)],
  });
}
