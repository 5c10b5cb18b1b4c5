import { createHash } from 'node:crypto';

export interface RotationPolicy {
  /** 66..80: from this share of a certificate's life on it is replaced. */
  readonly rotateBeforePercent: number;
}

export interface RotationPlan {
  readonly rotateAt: Date;
  readonly due: boolean;
}

export const EARLIEST_PERCENT = 66;
export const LATEST_PERCENT = 80;
const SPREAD_PERCENT = 5;

/**
 * When to replace a certificate. `seed` (the name of its owner) moves the moment by up to SPREAD_PERCENT of its life, never
 * past LATEST_PERCENT, so that clusters born together do not rotate together; the same seed always gives the same moment, so
 * an operator that restarts does not decide anew.
 */
export function planRotation(
  life: { readonly notBefore: Date; readonly notAfter: Date },
  policy: RotationPolicy,
  seed: string,
  now: Date,
): RotationPlan {
  const earliest = policy.rotateBeforePercent;
  if (!(earliest >= EARLIEST_PERCENT && earliest <= LATEST_PERCENT)) {
    throw new RangeError(`rotateBeforePercent must be ${EARLIEST_PERCENT}..${LATEST_PERCENT}, not ${earliest}`);
  }
  const spread = Math.min(SPREAD_PERCENT, LATEST_PERCENT - earliest);
  const percent = earliest + spread * fractionOf(seed);
  const start = life.notBefore.getTime();
  const rotateAt = new Date(Math.round(start + ((life.notAfter.getTime() - start) * percent) / 100));
  return { rotateAt, due: now >= rotateAt };
}

/** Until when a replaced certificate is still welcome: the grace period, but never beyond its own end. */
export function acceptSupersededUntil(
  superseded: { readonly supersededAt: Date; readonly notAfter: Date },
  graceMs: number,
): Date {
  return new Date(Math.min(superseded.supersededAt.getTime() + graceMs, superseded.notAfter.getTime()));
}

/** 0 <= fraction < 1, evenly spread over seeds. */
function fractionOf(seed: string): number {
  return createHash('sha256').update(seed).digest().readUInt32BE(0) / 2 ** 32;
}
