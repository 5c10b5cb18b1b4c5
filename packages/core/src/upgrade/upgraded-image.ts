import type { EffectiveClusterSpec, UpgradedImage, ValkeyClusterStatus } from '@valkey-operator/api';
import { formatImage } from '../builders/template-parts.ts';
import { previousDetail } from '../previous-detail.ts';
import type { ClusterSnapshot } from '../snapshot.ts';

/**
 * The spec with the image that a ValkeyUpgrade has put in the place of the one that is written there. It counts until a
 * person writes another image, whichever; so neither of the two ever rewrites what the other said.
 */
export function withUpgradedImage(
  spec: EffectiveClusterSpec,
  detail: ValkeyClusterStatus['status'],
): EffectiveClusterSpec {
  const { upgraded } = detail ?? {};
  if (upgraded?.insteadOf !== formatImage(spec.valkeyImage)) return spec;
  const { name, tag } = upgraded;
  return { ...spec, valkeyImage: { ...spec.valkeyImage, name, tag } };
}

/** What is written in the spec of the cluster, or follows from its defaults. */
export function writtenImage({ writtenImage: written, spec }: ClusterSnapshot): string {
  return written ?? formatImage(spec.valkeyImage);
}

/** The image of an upgrade, as long as it counts. */
export function upgradedImage(snapshot: ClusterSnapshot): UpgradedImage | undefined {
  const { upgraded } = previousDetail(snapshot);
  return upgraded?.insteadOf === writtenImage(snapshot) ? upgraded : undefined;
}
