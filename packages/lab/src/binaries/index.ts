export { resolveBinaries } from './resolve-binaries.ts';
