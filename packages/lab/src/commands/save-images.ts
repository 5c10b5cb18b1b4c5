import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { LabError } from '../errors.ts';
import { buildImages, writeOciImage } from '../images/index.ts';
import { consoleProgress } from '../progress.ts';
import type { Command } from './command.ts';

const RELEASED = ['operator', 'sidecar'];

export const saveImages: Command = {
  summary: 'write our own images as OCI layouts, ready to be pushed to a registry',
  options: {
    out: { type: 'string', value: 'DIR', description: 'where to; one folder per image' },
  },
  async run({ out }) {
    if (typeof out !== 'string' || out === '') {
      throw new LabError('BadArgument', '--out must name a folder', 'for example: --out dist/images');
    }
    const progress = consoleProgress();
    const images = await progress.step('Build images', (step) =>
      // Our own images need nothing of Kubernetes.
      buildImages({ step, binariesDir: '', only: RELEASED }),
    );
    for (const { ref, manifest, store } of images) {
      const dir = join(resolve(out), ref.replace(/^.*\//, '').replace(/:.*$/, ''));
      await progress.step(`Write ${ref}`, async (step) => {
        mkdirSync(dir, { recursive: true });
        const { digest } = await writeOciImage({ store, images: [manifest], ref, out: dir });
        step.note(digest);
      });
      console.log(dir);
    }
  },
};
