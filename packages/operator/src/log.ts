import { pino } from 'pino';

export type Logger = ReturnType<typeof createLogger>;

/** JSON lines with constant messages; what varies is in the fields `cluster, orchestration, action, reason`. */
export function createLogger(level: string) {
  return pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: { paths: ['*.privateKey', '*.token', '*.password', '*["tls.key"]'], censor: '[secret]' },
  });
}
