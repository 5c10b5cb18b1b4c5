export interface ValkeyVersion {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
}

const versionPattern = /^v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(?![\d.])/;

/** Reads "8.0.1", what INFO and HELLO say. */
export function parseVersion(text: string): ValkeyVersion | undefined {
  const [whole, major, minor, patch] = versionPattern.exec(text) ?? [];
  if (whole !== text) return undefined;
  return { major: Number(major), minor: Number(minor), patch: Number(patch ?? 0) };
}

/**
 * Reads the version that an image tag promises: "8.1.1-alpine3.22", "v9.1.0", "8.1", "9.1@sha256:...". Tags such as "latest" or "8" name
 * no release line, so only the running server can tell.
 */
export function versionOfImageTag(tag: string): ValkeyVersion | undefined {
  const [whole = ''] = versionPattern.exec(tag) ?? [];
  const rest = tag.slice(whole.length);
  return /^$|^[-@]/.test(rest) ? parseVersion(whole) : undefined;
}

export function compareVersions(a: ValkeyVersion, b: ValkeyVersion): number {
  return compareReleaseLines(a, b) || a.patch - b.patch;
}

/** A release line is major.minor: patches neither add settings nor change formats. */
export function compareReleaseLines(a: ValkeyVersion, b: ValkeyVersion): number {
  return a.major - b.major || a.minor - b.minor;
}

export function formatVersion({ major, minor, patch }: ValkeyVersion): string {
  return `${major}.${minor}.${patch}`;
}

/** The oldest line we run. */
export const oldestSupportedLine: ValkeyVersion = { major: 8, minor: 0, patch: 0 };
/** The newest line whose behaviour we have verified. */
export const newestVerifiedLine: ValkeyVersion = { major: 9, minor: 1, patch: 0 };

export function isSupportedVersion(version: ValkeyVersion): boolean {
  return compareReleaseLines(version, oldestSupportedLine) >= 0;
}
