import type { Step } from '../progress.ts';
import type { DebianPackage, PackageQuery } from './debian-packages.ts';
import type { LayerCache } from './layer-cache.ts';
import type { Arch } from './oci-image.ts';

/** What the makers of layers work with. */
export interface Workshop {
  arch: Arch;
  cache: LayerCache;
  debian: { fetch(query: PackageQuery): Promise<DebianPackage[]> };
  /** Holds the `coredns` binary, among others. */
  binariesDir: string;
  step: Step;
}
