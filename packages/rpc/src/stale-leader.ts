import { Code, ConnectError } from '@connectrpc/connect';

import { StaleLeaderSchema, type StaleLeader } from './gen/valkey/sidecar/v1/sidecar_service_pb.ts';

/** What a sidecar answers to a session of a leader that has been replaced. */
export function staleLeaderError(epoch: bigint, highestEpoch: bigint): ConnectError {
  return new ConnectError(`leader epoch ${epoch} has been replaced`, Code.FailedPrecondition, undefined, [
    { desc: StaleLeaderSchema, value: { highestEpoch } },
  ]);
}

export function findStaleLeader(error: unknown): StaleLeader | undefined {
  return error instanceof ConnectError ? error.findDetails(StaleLeaderSchema)[0] : undefined;
}
