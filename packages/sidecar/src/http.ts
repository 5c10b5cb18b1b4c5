import { once } from 'node:events';
import { createServer, type Server } from 'node:http';

export interface HttpAnswer {
  readonly ok: boolean;
  readonly text: string;
}

export type HttpRoutes = Readonly<Record<string, () => HttpAnswer | Promise<HttpAnswer>>>;

/** For the kubelet and Prometheus: a few GETs, answered in plain text. */
export async function serveHttp(port: number, routes: HttpRoutes): Promise<Server> {
  const server = createServer((request, response) => {
    const route = request.method === 'GET' ? routes[(request.url ?? '').split('?')[0] ?? ''] : undefined;
    const answer = route ? Promise.resolve().then(route) : undefined;
    const send = (status: number, text: string) =>
      response.writeHead(status, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(`${text}\n`);
    if (!answer) return void send(404, 'there is nothing here');
    answer.then(
      ({ ok, text }) => send(ok ? 200 : 503, text),
      (error: unknown) => send(500, error instanceof Error ? error.message : String(error)),
    );
  });
  // A preStop call is answered when the node has handed over, however long that takes.
  server.requestTimeout = 0;
  server.listen(port);
  await once(server, 'listening');
  return server;
}
