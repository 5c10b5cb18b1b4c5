// The contracts themselves. What runs them is in "@valkey-operator/rpc/operator" and "@valkey-operator/rpc/sidecar".
export * from './gen/valkey/operator/v1/operator_service_pb.ts';
export * from './gen/valkey/sidecar/v1/command_pb.ts';
export * from './gen/valkey/sidecar/v1/node_report_pb.ts';
export * from './gen/valkey/sidecar/v1/sidecar_service_pb.ts';

/** Of both contracts in this source; to be raised with every addition to them. */
export const CONTRACT_REVISION = 1;
