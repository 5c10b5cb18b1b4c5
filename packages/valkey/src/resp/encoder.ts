import { PushMessage, type RespValue } from './value.ts';
import { ValkeyError } from './valkey-error.ts';

export type CommandArgument = string | number | bigint | Uint8Array;

/** A command as an array of bulk strings, in one buffer of exactly its size. */
export function encodeCommand(args: readonly CommandArgument[]): Buffer {
  const texts = args.map((arg) => (arg instanceof Uint8Array ? arg : String(arg)));
  const head = `*${texts.length}\r\n`;
  const lengths = texts.map((text) => (typeof text === 'string' ? Buffer.byteLength(text) : text.length));
  let size = head.length;
  for (const length of lengths) size += length + String(length).length + 5;

  const buffer = Buffer.allocUnsafe(size);
  let at = buffer.write(head, 0, 'latin1');
  for (const [index, text] of texts.entries()) {
    at += buffer.write(`$${lengths[index]}\r\n`, at, 'latin1');
    if (typeof text === 'string') at += buffer.write(text, at);
    else {
      buffer.set(text, at);
      at += text.length;
    }
    at += buffer.write('\r\n', at, 'latin1');
  }
  return buffer;
}

/** A reply as a server would send it. Strings go as bulk strings, so any text survives. */
export function encodeReply(value: RespValue): Buffer {
  const parts: (string | Buffer)[] = [];
  appendReply(parts, value);
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
}

function appendReply(parts: (string | Buffer)[], value: RespValue): void {
  if (value === null) parts.push('_\r\n');
  else if (typeof value === 'boolean') parts.push(value ? '#t\r\n' : '#f\r\n');
  else if (typeof value === 'bigint') parts.push(`(${value}\r\n`);
  else if (typeof value === 'number') parts.push(encodeNumber(value));
  else if (typeof value === 'string') parts.push(`$${Buffer.byteLength(value)}\r\n${value}\r\n`);
  else if (Buffer.isBuffer(value)) parts.push(`$${value.length}\r\n`, value, '\r\n');
  else if (value instanceof ValkeyError) parts.push(`!${Buffer.byteLength(value.message)}\r\n${value.message}\r\n`);
  else if (value instanceof PushMessage) appendAll(parts, `>${value.data.length + 1}`, [value.kind, ...value.data]);
  else if (value instanceof Map) appendAll(parts, `%${value.size}`, [...value].flat(1));
  else if (value instanceof Set) appendAll(parts, `~${value.size}`, [...value]);
  else appendAll(parts, `*${value.length}`, value);
}

function appendAll(parts: (string | Buffer)[], head: string, items: RespValue[]): void {
  parts.push(`${head}\r\n`);
  for (const item of items) appendReply(parts, item);
}

function encodeNumber(value: number): string {
  if (Number.isSafeInteger(value) && !Object.is(value, -0)) return `:${value}\r\n`;
  if (Number.isNaN(value)) return ',nan\r\n';
  if (Math.abs(value) === Infinity) return value > 0 ? ',inf\r\n' : ',-inf\r\n';
  return `,${Object.is(value, -0) ? '-0' : value}\r\n`;
}
