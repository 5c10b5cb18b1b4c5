import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { type ClusterAccess, createHttpTransport, KubeClient } from '@valkey-operator/kube';
import { onTestFinished } from 'vitest';

/** A way to the API server that can be cut, or go silent without being closed. */
export async function detour(access: ClusterAccess): Promise<{
  client: KubeClient;
  cut: () => void;
  silence: () => void;
  connections: () => number;
}> {
  const pairs = new Set<[Socket, Socket]>();
  let opened = 0;
  const server = createServer((near) => {
    opened += 1;
    const far = connect(Number(access.server.port || 443), access.server.hostname);
    const pair: [Socket, Socket] = [near, far];
    pairs.add(pair);
    near.pipe(far).pipe(near);
    for (const socket of pair) {
      socket.on('error', () => {});
      socket.on('close', () => {
        pairs.delete(pair);
        for (const each of pair) each.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = (): number => {
    const count = pairs.size;
    for (const pair of pairs) for (const socket of pair) socket.destroy();
    return count;
  };
  onTestFinished(() => {
    cut();
    server.close();
  });
  const silence = (): void => {
    for (const [near, far] of pairs) {
      near.unpipe(far).resume();
      far.unpipe(near).resume();
    }
  };
  const { port } = server.address() as AddressInfo;
  const transport = createHttpTransport({
    ...access,
    server: new URL(`https://127.0.0.1:${port}`),
    insecureSkipTlsVerify: true,
    credentials: async () => ({ ...(await access.credentials()), ca: undefined }),
  });
  return { client: new KubeClient({ transport }), cut, silence, connections: () => opened };
}
