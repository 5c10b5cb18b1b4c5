export { ConnectionError, type ConnectionErrorCode } from './connection-error.ts';
export { connect, type ConnectOptions } from './connect.ts';
export { Connection } from './connection.ts';
export { exponentialBackOff, keepConnected, type KeepConnectedOptions, type KeptConnection } from './keep-connected.ts';
export type { ServerAddress } from './open-socket.ts';
export type { CallOptions } from './pending-command.ts';
