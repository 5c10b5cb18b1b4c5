import { mkdtempDisposable, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../run.ts';
import type { Layer } from './layer-cache.ts';
import { entryOf } from './rootfs.ts';
import type { Workshop } from './workshop.ts';

const SOURCE = join(import.meta.dirname, '../../go/pause');
const BUILD = ['build', '-trimpath', '-buildvcs=false', '-ldflags=-s -w'];

/** The container under every pod, compiled from its twenty lines of Go. */
export async function pauseLayer({ arch, cache, step }: Workshop): Promise<Layer> {
  const source = await readFile(join(SOURCE, 'main.go'), 'utf8');
  return cache.layer({ source, build: BUILD, arch }, async () => {
    step.note('compiling pause');
    await using out = await mkdtempDisposable(join(tmpdir(), 'lab-pause-'));
    const binary = join(out.path, 'pause');
    const env = { ...process.env, CGO_ENABLED: '0', GOOS: 'linux', GOARCH: arch, GOFLAGS: '', GOWORK: 'off' };
    await run('go', [...BUILD, '-o', binary, '.'], { cwd: SOURCE, env });
    return await cache.write([await entryOf(binary, 'pause')]);
  });
}
