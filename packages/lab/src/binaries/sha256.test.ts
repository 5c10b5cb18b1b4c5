import { describe, expect, test } from 'vitest';
import { findPublishedSha256 } from './sha256.ts';

const A = 'a'.repeat(64);
const B = 'b'.repeat(64);

describe('findPublishedSha256', () => {
  test('reads a file that holds one bare checksum, with or without a line end', () => {
    expect(findPublishedSha256(A, 'kubelet')).toBe(A);
    expect(findPublishedSha256(`${A}\n`, 'kubelet')).toBe(A);
  });

  test('picks the line of the file that was asked for', () => {
    const list = `${A}  etcd-v3-linux-arm64.tar.gz\n${B}  etcd-v3-linux-amd64.tar.gz\n`;
    expect(findPublishedSha256(list, 'etcd-v3-linux-amd64.tar.gz')).toBe(B);
  });

  test('accepts the folder and the star that some tools write before the name', () => {
    expect(findPublishedSha256(`${A} *release/coredns.tgz`, 'coredns.tgz')).toBe(A);
  });

  test('never takes the checksum of another file', () => {
    expect(findPublishedSha256(`${A}  something-else.tgz`, 'coredns.tgz')).toBeUndefined();
  });

  test('finds nothing in the page of a captive portal', () => {
    expect(findPublishedSha256('<html><body>Welcome to our Wi-Fi</body></html>', 'kubelet')).toBeUndefined();
  });
});
