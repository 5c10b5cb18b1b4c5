import { createHash } from 'node:crypto';
import { type Server, type Socket, connect, createServer } from 'node:net';

export interface LockOptions {
  /** Called whenever somebody else holds the lock, so that waiting can be explained. */
  onWait?: (() => void) | undefined;
  /** Ends the waiting; work that has begun is not disturbed. */
  signal?: AbortSignal | undefined;
}

/**
 * A lock between processes that cannot go stale: it is a listening socket in Linux' abstract namespace (no file behind it), which
 * the kernel removes with its process, however that ends. Those who wait stay connected to it and wake when the holder lets go
 * or dies, so nobody polls. It reaches as far as the network namespace: take it on the host, never inside a node.
 */
export async function withLock<T>(name: string, work: () => Promise<T>, options: LockOptions = {}): Promise<T> {
  const release = await acquireLock(name, options);
  try {
    return await work();
  } finally {
    await release();
  }
}

async function acquireLock(name: string, { onWait, signal }: LockOptions): Promise<() => Promise<void>> {
  const address = `\0valkey-operator-lab-${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;
  for (;;) {
    signal?.throwIfAborted();
    const waiting = new Set<Socket>();
    const server = createServer((socket) => {
      waiting.add(socket.on('error', () => {}).on('close', () => waiting.delete(socket)));
    });
    if (await listens(server, address)) {
      return () =>
        new Promise((resolve) => {
          server.close(() => resolve());
          for (const socket of waiting) socket.destroy();
        });
    }
    onWait?.();
    await closed(address, signal);
  }
}

function listens(server: Server, address: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    server.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(false) : reject(error),
    );
    server.listen(address, () => resolve(true));
  });
}

/** Ends when the holder's socket does; a refused connection means that it is gone already. */
function closed(address: string, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    connect({ path: address, ...(signal && { signal }) })
      .on('error', () => {})
      .on('close', () => resolve());
  });
}
