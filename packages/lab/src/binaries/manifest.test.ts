import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { COMPONENTS, MANIFEST, PROGRAMS } from './manifest.ts';

test('every program belongs to exactly one component', () => {
  const all = COMPONENTS.flatMap((name) => MANIFEST[name].programs);
  expect(all.toSorted()).toEqual([...PROGRAMS].toSorted());
});

const MODULE = {
  kubernetes: 'k8s.io/kubernetes',
  etcd: 'go.etcd.io/etcd/server/v3',
  coredns: 'github.com/coredns/coredns',
};

describe.each(COMPONENTS)('%s', (name) => {
  const component = MANIFEST[name];

  test('is built from the version that the manifest pins', async () => {
    const goMod = await readFile(join(component.build.module, 'go.mod'), 'utf8');
    expect(goMod).toMatch(new RegExp(`^(require )?\\s*${MODULE[name]} ${component.version}$`, 'm'));
  });

  test('is downloaded over TLS, in the version that the manifest pins', () => {
    for (const program of component.programs) {
      const { url, checksumUrl } = component.release(program, 'arm64');
      for (const address of [url, checksumUrl])
        expect(address).toMatch(new RegExp(`^https://.*/${component.version}/`));
      expect(url).toContain('arm64');
    }
  });
});

test('the libraries of Kubernetes are replaced by the version that belongs to it', async () => {
  const goMod = await readFile(join(MANIFEST.kubernetes.build.module, 'go.mod'), 'utf8');
  const replaced = [...goMod.matchAll(/=> k8s\.io\/\S+ (\S+)/g)].map(([, version]) => version);
  expect(new Set(replaced)).toEqual(new Set([MANIFEST.kubernetes.version.replace(/^v1\./, 'v0.')]));
});
