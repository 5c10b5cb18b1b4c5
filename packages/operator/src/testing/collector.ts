import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readSpans, type ReceivedSpan } from './otlp.ts';

/** The receiving end of OTLP/HTTP, for tests: it keeps what arrives. A real collector would be one more thing to build. */
export async function startCollector(host: string) {
  const spans: ReceivedSpan[] = [];
  const paths = new Set<string>();
  let answer = 200;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      paths.add(`${request.method} ${request.url} ${request.headers['content-type']}`);
      if (answer === 200) spans.push(...readSpans(Buffer.concat(chunks)));
      response.writeHead(answer, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host}:${port}`,
    spans,
    paths,
    refuse: (status: number): void => void (answer = status),
    close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  };
}
