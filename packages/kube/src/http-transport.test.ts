import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ClusterAccess } from './access.ts';
import { KubeClient } from './client.ts';
import { createHttpTransport } from './http-transport.ts';
import { configMaps } from './resources.ts';
import { readBody, type Transport, type TransportRequest } from './transport.ts';

interface Scene {
  send: Transport;
  /** One per connection that the server has seen. */
  connections: Socket[];
  access: ClusterAccess & { token: string; forgotten: number };
}

async function serve(
  answer: (incoming: http.IncomingMessage, outgoing: http.ServerResponse) => unknown,
): Promise<Scene> {
  const server = http.createServer({ keepAliveTimeout: 60_000 }, (...exchange) => void answer(...exchange));
  const connections: Socket[] = [];
  server.on('connection', (socket) => connections.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const access = {
    server: new URL(`http://127.0.0.1:${port}/prefix/`),
    namespace: 'default',
    token: 'first',
    forgotten: 0,
    credentials: async () => ({ authorization: `Bearer ${access.token}` }),
    forgetCredentials: () => {
      access.forgotten += 1;
      access.token = 'second';
    },
  };
  return { send: createHttpTransport(access), connections, access };
}

function request(rest: Partial<TransportRequest> = {}): TransportRequest {
  return { method: 'GET', path: '/api', signal: new AbortController().signal, ...rest };
}

describe('the HTTP transport', () => {
  test('sends method, path behind the server prefix, content type, body and token, over one kept connection', async () => {
    const seen: string[] = [];
    const { send, connections } = await serve(async (incoming, outgoing) => {
      const { method, url, headers } = incoming;
      const body = await readBody(incoming);
      seen.push(`${method} ${url} ${headers['content-type']} ${headers.authorization} ${body}`);
      outgoing.end('ok');
    });
    const contentType = 'application/merge-patch+json';
    for (let i = 0; i < 2; i += 1) {
      const { status, body } = await send(request({ method: 'PATCH', path: '/api?x=1', contentType, body: '{"ä":1}' }));
      expect([status, await readBody(body)]).toEqual([200, 'ok']);
    }
    expect(seen).toEqual(Array(2).fill('PATCH /prefix/api?x=1 application/merge-patch+json Bearer first {"ä":1}'));
    expect(connections).toHaveLength(1);
  });

  test('reads its token again after 401, once', async () => {
    const { send, access } = await serve((incoming, outgoing) => {
      outgoing.statusCode = incoming.headers.authorization === 'Bearer second' ? 200 : 401;
      outgoing.end();
    });
    expect((await send(request())).status).toBe(200);
    access.token = 'wrong';
    access.forgetCredentials = () => {};
    expect((await send(request())).status).toBe(401);
  });

  test('goes through the proxy of the kubeconfig', async () => {
    const seen: unknown[] = [];
    const { access } = await serve((incoming, outgoing) => {
      seen.push(incoming.url);
      outgoing.end();
    });
    const proxied = { ...access, server: new URL('http://kube.invalid'), proxyUrl: access.server.origin };
    expect((await createHttpTransport(proxied)(request())).status).toBe(200);
    expect(seen).toEqual(['http://kube.invalid/api']);
  });

  test('passes on how long the server asks to wait', async () => {
    const { send } = await serve((_, outgoing) => outgoing.writeHead(429, { 'retry-after': '3' }).end());
    expect(await send(request())).toMatchObject({ status: 429, retryAfterMs: 3_000 });
  });

  test('repeats a read, and never a create, when a kept connection turns out to be closed', async () => {
    let answered = 0;
    const { send, connections } = await serve((incoming, outgoing) => {
      // Every connection serves one request and dies with the next, as one does that the server is closing.
      if (connections.indexOf(incoming.socket) < answered) return incoming.socket.destroy();
      answered += 1;
      return outgoing.end('ok');
    });
    const read = async (): Promise<string> => readBody((await send(request())).body);
    expect(await read()).toBe('ok');
    expect(await read()).toBe('ok');
    expect(connections).toHaveLength(2);
    await expect(send(request({ method: 'POST', body: '{}' }))).rejects.toThrow('socket hang up');
  });

  test('lets an abort end a body that is still open, and close idle connections too', async () => {
    const { send, connections } = await serve((incoming, outgoing) => {
      if (incoming.url?.endsWith('watch')) outgoing.write('first');
      else outgoing.end('ok');
    });
    const stop = new AbortController();
    const watch = await send(request({ path: '/watch', signal: stop.signal }));
    await readBody((await send(request())).body);
    const closed = Promise.all(connections.map((socket) => once(socket, 'close')));
    const reading = (async () => {
      for await (const chunk of watch.body) {
        expect(Buffer.from(chunk).toString()).toBe('first');
        stop.abort();
      }
    })();
    await expect(reading).rejects.toThrow('aborted');
    await closed;
    expect(connections).toHaveLength(2);
  });

  test('carries a watch whose events come in odd pieces, to its end', async () => {
    const { send } = await serve(async (_, outgoing) => {
      const bytes = Buffer.from(
        '{"type":"ADDED","object":{"metadata":{"name":"grüße"}}}\n{"type":"DELETED","object":{}}\n',
      );
      for (let at = 0; at < bytes.length; at += 7) {
        await new Promise((written) => outgoing.write(bytes.subarray(at, at + 7), written));
      }
      outgoing.end();
    });
    const types: string[] = [];
    const client = new KubeClient({ transport: send });
    for await (const event of client.watch(configMaps, { resourceVersion: '1', timeoutSeconds: 30 }))
      types.push(event.type);
    expect(types).toEqual(['ADDED', 'DELETED']);
  });

  test('calls a watch broken when its connection is cut in the middle', async () => {
    const { send } = await serve((incoming, outgoing) => outgoing.write('{"type":', () => incoming.socket.destroy()));
    const events = new KubeClient({ transport: send }).watch(configMaps, { resourceVersion: '1', timeoutSeconds: 30 });
    await expect(events.next()).rejects.toMatchObject({ code: 'Unreachable' });
  });
});
