const MEBIBYTE = 1024 * 1024;

export function formatMebibytes(bytes: number): string {
  return `${Math.round(bytes / MEBIBYTE)} MiB`;
}
