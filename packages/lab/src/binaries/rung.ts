import type { Progress } from '../progress.ts';
import type { Arch, Component, ComponentName, Manifest, Program } from './manifest.ts';
import type { Store } from './store.ts';

/** What every rung works with. */
export interface RungContext {
  manifest: Manifest;
  arch: Arch;
  store: Store;
  progress: Progress;
  assetsDir: string | undefined;
}

/** Programs a rung could give, and in one sentence each why it could not give others. */
export interface Climb {
  files: Map<Program, string>;
  reasons: string[];
}

/** One way to get programs. It throws only where going on to the next rung would hide a fault from the user. */
export type Rung = (component: ComponentName, wanted: readonly Program[], context: RungContext) => Promise<Climb>;

export const nothing = (reason: string): Climb => ({ files: new Map(), reasons: [reason] });

/** All wanted programs are in one multi-call binary, which becomes the one it is started as. */
export const allIn = (file: string, wanted: readonly Program[]): Climb => ({
  files: new Map(wanted.map((program) => [program, file])),
  reasons: [],
});

/** Keys of the store: by name, version and architecture, and by what tells two files of the same version apart. */
export const storeKey = {
  assets: ({ product, version }: Component, arch: Arch, sha256: string) =>
    `${product}-${version}-${arch}-${short(sha256)}`,
  release: (program: Program, { version }: Component, arch: Arch) => `${program}-${version}-${arch}-release`,
  build: ({ product, version }: Component, arch: Arch, recipe: string) =>
    `${product}-${version}-${arch}-go-${short(recipe)}`,
};

const short = (sha256: string) => sha256.slice(0, 16);
