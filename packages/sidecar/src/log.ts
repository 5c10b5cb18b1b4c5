export type LogFields = Readonly<Record<string, unknown>>;

/** Constant messages, what varies in the fields. */
export interface Log {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

type Level = 'info' | 'warn' | 'error';

/** JSON lines in the shape that pino writes. pino itself would cost each pod more memory than all else we hold. */
export function createLog(base: LogFields, write: (line: string) => void, now: () => Date = () => new Date()): Log {
  const at =
    (level: Level) =>
    (message: string, fields: LogFields = {}) =>
      write(`${JSON.stringify({ level, time: now().toISOString(), msg: message, ...base, ...fields }, plainErrors)}\n`);
  return { info: at('info'), warn: at('warn'), error: at('error') };
}

function plainErrors(_key: string, value: unknown): unknown {
  if (value instanceof Error) return value.message;
  return typeof value === 'bigint' ? String(value) : value;
}
