import type { SidecarId } from '@valkey-operator/pki/verify';

import { SidecarService } from './gen/valkey/sidecar/v1/sidecar_service_pb.ts';
import { createRpcChannel, type RpcChannel, type RpcChannelOptions } from './rpc-channel.ts';

export interface SidecarChannelOptions extends Omit<RpcChannelOptions, 'admits' | 'interceptors'> {
  readonly sidecar: Omit<SidecarId, 'kind'>;
}

/** The operator's way to one sidecar: whoever answers must be a sidecar of that cluster (and pod, if its id names one). */
export function connectToSidecar({ sidecar, ...options }: SidecarChannelOptions): RpcChannel<typeof SidecarService> {
  return createRpcChannel(SidecarService, {
    ...options,
    admits: (id) =>
      id.kind === 'sidecar' &&
      id.trustDomain === sidecar.trustDomain &&
      id.namespace === sidecar.namespace &&
      id.cluster === sidecar.cluster &&
      (id.pod === undefined || id.pod === sidecar.pod),
  });
}
