export type { ComponentName, Program } from './manifest.ts';
export { type Binaries, type ResolveOptions, type RungName, resolveBinaries } from './resolve-binaries.ts';
