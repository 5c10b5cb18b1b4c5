import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../run.ts';
import { bundle } from './app-image.ts';

test('a bundle is one file that runs alone, CommonJS dependencies included', async () => {
  await using dir = await mkdtempDisposable(join(tmpdir(), 'bundle-test-'));
  const entry = join(dir.path, 'main.ts');
  await writeFile(join(dir.path, 'legacy.cjs'), `exports.separator = require('path').sep;`);
  await writeFile(
    entry,
    `import { separator } from './legacy.cjs';\nfunction greet(): string { return separator; }\nconsole.log(greet(), greet.name);`,
  );
  const out = join(dir.path, 'out.cjs');
  await writeFile(out, await bundle({ name: 'test', entry, nodeFlags: [] }));
  expect((await run(process.execPath, [out])).stdout).toBe('/ greet\n');
});

test('code that cannot be bundled is named in the error', async () => {
  const app = { name: 'operator', entry: '/nowhere/main.ts', nodeFlags: [] };
  await expect(bundle(app)).rejects.toMatchObject({
    code: 'ImageUnavailable',
    message: expect.stringMatching(/operator.*\/nowhere\/main\.ts/s),
  });
});
