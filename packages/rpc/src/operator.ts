// What the operator needs of the wire: the gateway for heartbeats and events, and sessions to sidecars.
export { CredentialHolder } from './credential-source.ts';
export { notLeaderError } from './not-leader.ts';
export { CommandUnanswered, openSession } from './open-session.ts';
export { createOperatorGateway } from './operator-gateway.ts';
export { recordRefusals } from './refusal-recorder.ts';
export { connectToSidecar } from './sidecar-channel.ts';
export { findStaleLeader } from './stale-leader.ts';
export { TokenCache } from './token-cache.ts';
export type { CredentialSource } from './credential-source.ts';
export type { CommandRequest, OperatorSession, SessionOptions } from './open-session.ts';
export type { OperatorGatewayOptions } from './operator-gateway.ts';
export type { IdentityProvider, OnPeerRefused, Peer, PeerRefusal, PeerRefusalReason } from './peer.ts';
export type { RpcServer } from './rpc-server.ts';
export type { TokenOwner } from './token-cache.ts';
