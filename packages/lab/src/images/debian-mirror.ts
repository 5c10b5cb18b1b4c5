import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { LabError } from '../errors.ts';
import { run } from '../run.ts';

const KEYRINGS = ['/usr/share/keyrings/debian-archive-keyring.gpg', '/usr/share/keyrings/debian-archive-keyring.pgp'];
const NOT_DEBIAN =
  'run this on Debian 12 or newer, or name a Debian mirror in LAB_DEBIAN_MIRROR and install debian-archive-keyring';

/** Where Debian packages come from: the mirror that this machine's own apt is set up to use, or LAB_DEBIAN_MIRROR. */
export async function findDebianMirror(): Promise<{ uri: string; keyring: string }> {
  const keyring = KEYRINGS.find((path) => existsSync(path));
  if (!keyring) {
    throw new LabError(
      'MissingTool',
      'the keys of the Debian archive are not installed',
      'apt-get install debian-archive-keyring',
    );
  }
  const named = process.env.LAB_DEBIAN_MIRROR;
  if (named) return { uri: named, keyring };

  const release = parseEnv(await readFile('/etc/os-release', 'utf8').catch(() => ''));
  const { stdout } = await run('apt-get', ['update', '--print-uris']).catch((cause: unknown) => {
    throw new LabError(
      'MissingTool',
      'images are made from Debian packages, and apt-get does not work here',
      NOT_DEBIAN,
      cause,
    );
  });
  const uri = release.ID === 'debian' ? mirrorOf(stdout, release.VERSION_CODENAME ?? 'sid') : undefined;
  if (!uri) {
    throw new LabError(
      'ImageUnavailable',
      `no Debian mirror in the apt sources of ${release.PRETTY_NAME ?? 'this machine'}`,
      NOT_DEBIAN,
    );
  }
  return { uri, keyring };
}

/** The archive that serves a release, from what `apt-get update --print-uris` says it would fetch. */
export function mirrorOf(printedUris: string, codename: string): string | undefined {
  const suites = [codename, 'stable', 'testing', 'sid', 'unstable'];
  const releases = [...printedUris.matchAll(/^'(\S+)\/dists\/([^/'\s]+)\/InRelease'/gm)];
  return releases.find(([, , suite]) => suites.includes(suite!))?.[1];
}
