import type { AddressInfo } from 'node:net';
import { Counter, Registry } from 'prom-client';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startHttpServer } from './http-server.ts';

async function serve(whyNotReady: () => string | undefined) {
  const registry = new Registry();
  new Counter({ name: 'beats_total', help: 'Beats.', registers: [registry] }).inc();
  const server = await startHttpServer({ port: 0, registry, whyNotReady });
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: response.status, text: await response.text() };
  };
}

describe('the HTTP server', () => {
  test('is alive from the start, and ready when it can do its work', async () => {
    let why: string | undefined = 'still looking';
    const get = await serve(() => why);
    expect(await get('/healthz')).toEqual({ status: 200, text: 'ok\n' });
    expect(await get('/readyz')).toEqual({ status: 503, text: 'still looking\n' });
    why = undefined;
    expect(await get('/readyz?verbose')).toEqual({ status: 200, text: 'ok\n' });
  });

  test('shows metrics to Prometheus', async () => {
    const get = await serve(() => undefined);
    expect(await get('/metrics')).toEqual({ status: 200, text: expect.stringContaining('beats_total 1') });
  });

  test('says what there is to who asks for something else', async () => {
    const get = await serve(() => undefined);
    expect(await get('/')).toEqual({ status: 404, text: 'there is /healthz, /readyz and /metrics\n' });
  });
});
