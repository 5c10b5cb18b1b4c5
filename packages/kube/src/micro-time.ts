/** Kubernetes' MicroTime: exactly six fractional digits, or the server refuses it. */
export function formatMicroTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}

/** Kubernetes' Time: whole seconds. */
export function formatTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}
