import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { downloadRung } from './download-rung.ts';
import { fakeProgram, makeFakeWorld, sha256 } from './fake-world.ts';
import { storeKey } from './rung.ts';

const KUBELET = fakeProgram('Kubernetes', 'v1.2.3');

let server: Server;
let base: string;
let served: Map<string, string | Uint8Array>;
let requests: string[];

beforeEach(async () => {
  served = new Map();
  requests = [];
  server = createServer((request, response) => {
    requests.push(request.url!);
    const body = served.get(request.url!);
    response.writeHead(body === undefined ? 404 : 200).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

function serve(path: string, content: string | Uint8Array, checksum = sha256(content)): void {
  served.set(path, content);
  served.set(`${path}.sha256`, checksum);
}

test('a program is downloaded and checked against the published checksum', async () => {
  serve('/kubelet', KUBELET);
  await using world = await makeFakeWorld(base);
  const { files } = await downloadRung('kubernetes', ['kubelet'], world.context);
  expect(await readFile(files.get('kubelet')!, 'utf8')).toBe(KUBELET);
});

test('a program inside an archive is taken out of it', async () => {
  await using world = await makeFakeWorld(base);
  const etcd = fakeProgram('etcd', 'v3.0.1');
  await mkdir(join(world.root, 'folder'));
  await writeFile(join(world.root, 'folder', 'etcd'), etcd);
  execFileSync('tar', ['-czf', 'etcd.tgz', 'folder/etcd'], { cwd: world.root });
  serve('/etcd.tgz', await readFile(join(world.root, 'etcd.tgz')));
  const { files } = await downloadRung('etcd', ['etcd'], world.context);
  expect(await readFile(files.get('etcd')!, 'utf8')).toBe(etcd);
});

test('a pinned checksum counts, and what the host publishes is not even asked for', async () => {
  serve('/kubelet', 'a dishonest kubelet');
  await using world = await makeFakeWorld(base);
  const { kubernetes } = world.manifest;
  const pinned = {
    ...kubernetes,
    release: (...args: Parameters<typeof kubernetes.release>) => ({
      ...kubernetes.release(...args),
      sha256: sha256(KUBELET),
    }),
  };
  const context = { ...world.context, manifest: { ...world.manifest, kubernetes: pinned } };
  await expect(downloadRung('kubernetes', ['kubelet'], context)).rejects.toMatchObject({ code: 'ChecksumMismatch' });
  expect(requests).toEqual(['/kubelet']);
  serve('/kubelet', KUBELET);
  expect((await downloadRung('kubernetes', ['kubelet'], context)).files.has('kubelet')).toBe(true);
});

test('a file with a wrong checksum is an alarm that names the address and both checksums', async () => {
  serve('/kubelet', KUBELET, sha256('what it should be'));
  await using world = await makeFakeWorld(base);
  await expect(downloadRung('kubernetes', ['kubelet'], world.context)).rejects.toMatchObject({
    code: 'ChecksumMismatch',
    message: `${base}/kubelet has sha256 ${sha256(KUBELET)}, expected ${sha256('what it should be')}`,
  });
});

test('what was downloaded stays when a later program of the release is missing', async () => {
  serve('/kube-apiserver', KUBELET);
  await using world = await makeFakeWorld(base);
  const climb = await downloadRung('kubernetes', ['kube-apiserver', 'kubelet', 'kubectl'], world.context);
  expect([...climb.files.keys()]).toEqual(['kube-apiserver']);
  expect(climb.reasons).toEqual([`${base}/kubelet.sha256: HTTP 404`]);
});

test('the page of a captive portal in place of a checksum leads to the next rung', async () => {
  serve('/kubelet', KUBELET, '<html>Please log in</html>');
  await using world = await makeFakeWorld(base);
  const climb = await downloadRung('kubernetes', ['kubelet'], world.context);
  expect(climb.reasons).toEqual([`${base}/kubelet.sha256 holds no checksum`]);
});

test('a host out of reach leads to the next rung after one attempt', async () => {
  await new Promise((resolve) => server.close(resolve));
  await using world = await makeFakeWorld(base);
  const climb = await downloadRung('kubernetes', ['kube-apiserver', 'kubelet'], world.context);
  expect(climb.files.size).toBe(0);
  expect(climb.reasons).toEqual([`${new URL(base).host} cannot be reached (ECONNREFUSED)`]);
});

test('a connection that breaks in the middle leaves nothing in the store', async () => {
  server.removeAllListeners('request').on('request', (request, response) => {
    if (request.url === '/kubelet.sha256') return response.end(sha256(KUBELET));
    response.writeHead(200, { 'content-length': 1000 }).write('#!/bin');
    return setImmediate(() => response.destroy());
  });
  await using world = await makeFakeWorld(base);
  const climb = await downloadRung('kubernetes', ['kubelet'], world.context);
  expect(climb.reasons[0]).toMatch(/cannot be reached/);
  expect(
    await world.context.store.find(storeKey.release('kubelet', world.manifest.kubernetes, world.context.arch)),
  ).toBeUndefined();
});
