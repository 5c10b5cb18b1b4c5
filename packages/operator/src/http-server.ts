import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { Registry } from 'prom-client';

export interface HttpServerOptions {
  port: number;
  registry: Registry;
  /** Why this process cannot do its work now; undefined: it can. */
  whyNotReady: () => string | undefined;
}

/** Health for the kubelet, metrics for Prometheus. */
export async function startHttpServer({ port, registry, whyNotReady }: HttpServerOptions): Promise<Server> {
  const server = createServer((request, response) => {
    const reply = (status: number, body: string, type = 'text/plain') =>
      response.writeHead(status, { 'content-type': type }).end(body);
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname === '/healthz') return void reply(200, 'ok\n');
    if (pathname === '/readyz') {
      const why = whyNotReady();
      return void reply(why === undefined ? 200 : 503, `${why ?? 'ok'}\n`);
    }
    if (pathname === '/metrics') {
      return void registry.metrics().then(
        (text) => reply(200, text, registry.contentType),
        (error: unknown) => reply(500, String(error)),
      );
    }
    reply(404, 'there is /healthz, /readyz and /metrics\n');
  });
  server.listen(port);
  await once(server, 'listening');
  return server;
}
