import { Code, ConnectError } from '@connectrpc/connect';

import { NotLeaderSchema, type NotLeader } from './gen/valkey/operator/v1/operator_service_pb.ts';

/** What a replica of the operator that does not hold the Lease answers to every call. */
export function notLeaderError(leader: string): ConnectError {
  return new ConnectError('not the leader', Code.Unavailable, undefined, [
    { desc: NotLeaderSchema, value: { leader } },
  ]);
}

export function findNotLeader(error: unknown): NotLeader | undefined {
  return error instanceof ConnectError ? error.findDetails(NotLeaderSchema)[0] : undefined;
}
