import { expect, test } from 'vitest';
import { buildImages } from './build-images.ts';
import { labImages } from './recipes.ts';

const step = { note() {}, progress() {} };

test('no two images share a name, and none runs as root', () => {
  const refs = labImages().flatMap((image) => image.refs(`version-of-${image.name}`));
  expect(new Set(refs).size).toBe(refs.length);
  for (const { config } of labImages()) expect(config.user).toMatch(/^[1-9]\d*:[1-9]\d*$/);
});

test('the images answer to the names that manifests use', () => {
  expect(labImages().flatMap((image) => image.refs('8.1.1'))).toEqual(
    expect.arrayContaining([
      'docker.io/valkey/valkey:8.0',
      'docker.io/valkey/valkey:8.1',
      'docker.io/valkey/valkey:8.1.1',
      'docker.io/valkey/valkey-bundle:8.1',
      'docker.io/valkey/valkey:9.1',
      'registry.k8s.io/pause:3.10',
      'registry.k8s.io/coredns/coredns:v1.15.0',
    ]),
  );
});

test('the sidecar starts Node with the flags that keep it small', () => {
  const sidecar = labImages().find(({ name }) => name === 'sidecar');
  expect(sidecar?.config.entrypoint).toEqual([
    '/usr/local/bin/node',
    '--lite-mode',
    '--max-semi-space-size=1',
    '--v8-pool-size=0',
    '--expose-gc',
    '/app/main.cjs',
  ]);
});

test('an unknown image is refused with the names there are', async () => {
  await expect(buildImages({ step, binariesDir: '', only: ['valkey-7.2'] })).rejects.toMatchObject({
    code: 'BadArgument',
    remedy: expect.stringContaining('valkey-8.0, valkey-8.1, valkey-9.1'),
  });
});
