import type { PushMessage } from '../resp/value.ts';
import { ValkeyError } from '../resp/valkey-error.ts';
import { ConnectionError } from './connection-error.ts';
import { Connection } from './connection.ts';
import { openSocket, type ServerAddress } from './open-socket.ts';

export interface ConnectOptions {
  readonly address: ServerAddress;
  /** For socket, TLS and greeting together. */
  readonly timeoutMs: number;
  readonly credentials?: { readonly username: string; readonly password: string };
  /** Shown by CLIENT LIST. */
  readonly clientName?: string;
  readonly signal?: AbortSignal;
  readonly onPush?: (message: PushMessage) => void;
}

/**
 * A connection that has greeted the server: RESP3, signed in, named. Rejects with ConnectionError, or with the
 * ValkeyError of a refused greeting (WRONGPASS, NOAUTH).
 */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), options.timeoutMs);
  const signal = options.signal === undefined ? deadline.signal : AbortSignal.any([options.signal, deadline.signal]);
  try {
    const socket = await openSocket(options.address, signal);
    return await greet(new Connection(socket, options.onPush), options, signal);
  } catch (error) {
    if (deadline.signal.aborted) throw new ConnectionError('connect-timeout', 'no', error);
    if (options.signal?.aborted) throw new ConnectionError('aborted', 'no', error);
    if (error instanceof ValkeyError) throw error;
    throw new ConnectionError('connect-failed', 'no', error);
  } finally {
    clearTimeout(timer);
  }
}

async function greet(connection: Connection, options: ConnectOptions, signal: AbortSignal): Promise<Connection> {
  const { credentials, clientName } = options;
  const auth = credentials === undefined ? [] : ['AUTH', credentials.username, credentials.password];
  const name = clientName === undefined ? [] : ['SETNAME', clientName];
  try {
    await connection.call(['HELLO', '3', ...auth, ...name], { signal });
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
}
