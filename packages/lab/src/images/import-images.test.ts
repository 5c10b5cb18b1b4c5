import { expect, test } from 'vitest';
import { parseImageList } from './import-images.ts';

test('the images that a node holds are read from the table of ctr', () => {
  const digest = `sha256:${'0a'.repeat(32)}`;
  const table = [
    'REF TYPE DIGEST SIZE PLATFORMS LABELS ',
    `registry.k8s.io/pause:3.10   application/vnd.oci.image.manifest.v1+json ${digest} 1.4 MiB linux/amd64 io.cri-containerd.image=managed `,
  ].join('\n');
  expect(parseImageList(table)).toEqual(new Map([['registry.k8s.io/pause:3.10', digest]]));
});
