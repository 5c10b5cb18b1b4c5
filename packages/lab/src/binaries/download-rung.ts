import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { LabError } from '../errors.ts';
import type { Step } from '../progress.ts';
import { run } from '../run.ts';
import { Unavailable, download, downloadText } from './download.ts';
import type { Program, ReleaseFile } from './manifest.ts';
import { type Climb, type Rung, storeKey } from './rung.ts';
import { findPublishedSha256, sha256OfFile } from './sha256.ts';

/** The projects' own releases. A host out of reach leads to the next rung; a file with a wrong checksum is an alarm and stops. */
export const downloadRung: Rung = async (name, wanted, { manifest, arch, store, progress }) => {
  const component = manifest[name];
  const climb: Climb = { files: new Map(), reasons: [] };

  const fetchProgram = (program: Program) =>
    progress.step(`Download ${program} ${component.version}`, async (step) => {
      try {
        return await store.provide(storeKey.release(program, component, arch), {
          make: (path, folder) => downloadRelease(component.release(program, arch), path, folder, step),
          onWait: () => step.note('another run is downloading it'),
        });
      } catch (error) {
        step.note((error as Error).message);
        throw error;
      }
    });

  try {
    for (const program of wanted) climb.files.set(program, await fetchProgram(program));
  } catch (error) {
    // The other programs of this component are on the same host: one answer is enough.
    if (!(error instanceof Unavailable)) throw error;
    climb.reasons.push(error.message);
  }
  return climb;
};

async function downloadRelease(release: ReleaseFile, path: string, folder: string, step: Step): Promise<void> {
  const expected = release.sha256 ?? (await publishedSha256(release));
  const file = join(folder, 'download');
  await download(release.url, file, (done, total) => step.progress(megabytes(done), megabytes(total), 'MB'));
  const actual = await sha256OfFile(file);
  if (actual !== expected) {
    throw new LabError(
      'ChecksumMismatch',
      `${release.url} has sha256 ${actual}, expected ${expected}`,
      'run this again; if it stays, something on the way changes the file: set KUBEBUILDER_ASSETS to binaries you trust',
    );
  }
  step.note(release.sha256 ? 'checksum pinned' : 'checksum as published by the project, not pinned');
  if (release.member) await run('tar', ['-xzf', file, '-C', folder, release.member]);
  await rename(release.member ? join(folder, release.member) : file, path);
}

async function publishedSha256({ url, checksumUrl }: ReleaseFile): Promise<string> {
  const sha256 = findPublishedSha256(await downloadText(checksumUrl), url.split('/').at(-1)!);
  if (!sha256) throw new Unavailable(`${checksumUrl} holds no checksum`);
  return sha256;
}

const megabytes = (bytes: number) => Math.round(bytes / 1e6);
