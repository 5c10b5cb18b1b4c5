import { connect as connectPlain, type Socket } from 'node:net';
import type { ConnectionOptions } from 'node:tls';

/** `tls` takes what node:tls does: ca, cert and key for mutual TLS, servername where the host is an address. */
export type ServerAddress =
  | { readonly path: string }
  | { readonly host: string; readonly port: number; readonly tls?: ConnectionOptions };

const KEEP_ALIVE_MS = 15_000;

/** A connected socket. When the signal aborts first, the attempt is destroyed and its reason thrown. */
export async function openSocket(address: ServerAddress, signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted();
  const { socket, readyEvent } = await startConnecting(address);
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const onAbort = () => reject(signal.reason);
  socket.once(readyEvent, () => resolve(socket));
  socket.once('error', reject);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await promise;
  } catch (error) {
    // A late error of a socket that nobody waits for any more must not end the process.
    socket.on('error', () => undefined);
    socket.destroy();
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
    socket.off('error', reject);
  }
}

async function startConnecting(address: ServerAddress): Promise<{ socket: Socket; readyEvent: string }> {
  if ('path' in address) return { socket: connectPlain(address), readyEvent: 'connect' };
  const { host, port, tls } = address;
  // A peer that vanished without a word is noticed by the kernel, at no cost to us.
  const options = { host, port, noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_MS };
  if (tls === undefined) return { socket: connectPlain(options), readyEvent: 'connect' };
  // Loaded on demand: a sidecar on a unix socket does not pay for it.
  const { connect: connectTls } = await import('node:tls');
  return { socket: connectTls({ ...tls, ...options }), readyEvent: 'secureConnect' };
}
