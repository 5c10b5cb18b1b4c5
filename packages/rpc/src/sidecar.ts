// What a sidecar needs of the wire. Kept apart from operator.ts: every import here is paid for in each pod.
export { CertificateFiles } from './certificate-files.ts';
export { CommandExecutor } from './command-executor.ts';
export { done, failed, refused } from './command-outcome.ts';
export { findGuardMismatch } from './guard.ts';
export { findNotLeader } from './not-leader.ts';
export { connectToOperator } from './operator-channel.ts';
export { recordRefusals } from './refusal-recorder.ts';
export { createSidecarServer } from './sidecar-server.ts';
export type { CertificateFilesOptions } from './certificate-files.ts';
export type { CommandExecutorOptions, CommandHandler, CommandHandlers } from './command-executor.ts';
export type { CommandKind, CommandOutcome, CommandPayload } from './command-outcome.ts';
export type { CredentialSource } from './credential-source.ts';
export type { IdentityProvider, OnPeerRefused, Peer, PeerRefusal, PeerRefusalReason } from './peer.ts';
export type { RpcServer } from './rpc-server.ts';
export type { ReportSource } from './serve-session.ts';
