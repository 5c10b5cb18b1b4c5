import { ValkeyError } from './valkey-error.ts';
import { PushMessage, RespProtocolError, type RespValue } from './value.ts';

const CR = 0x0d;
const LF = 0x0a;
const MINUS = 0x2d;
const ZERO = 0x30;
const EMPTY = Buffer.alloc(0);
/** Longest line without a length prefix. Valkey's own errors and numbers stay far below. */
const MAX_LINE = 64 * 1024;
/** Valkey's proto-max-bulk-len can be raised, but a length beyond this is a broken stream, not a value. */
const MAX_BULK = 4 * 1024 * 1024 * 1024;

const integerPattern = /^[+-]?\d+$/;

type AggregateType = '*' | '~' | '%' | '>' | '|';
interface OpenAggregate {
  readonly type: AggregateType;
  readonly items: RespValue[];
  missing: number;
}

/** Set when an element was an opener or an attribute, so that there is no value to hand on yet. */
const NOTHING = Symbol('nothing');

/**
 * Incremental RESP3 decoder: push chunks as they come, read values until there is none.
 *
 * State between chunks is the stack of open aggregates, so no byte is parsed twice; a bulk string larger than a chunk
 * is joined once, when its last byte is there. Nothing is copied when a chunk holds whole replies.
 */
export class RespDecoder {
  #buffer: Buffer = EMPTY;
  #at = 0;
  #chunks: Buffer[] = [];
  #available = 0;
  #needed = 1;
  readonly #open: OpenAggregate[] = [];

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#available += chunk.length;
  }

  /**
   * The next value, or undefined until more bytes come. `binary` gives the bulk strings of this reply as Buffers; push
   * messages are always text, whichever reply they precede.
   */
  read(binary = false): RespValue | undefined {
    while (this.#available >= this.#needed) {
      this.#join();
      const element = this.#readElement(binary && this.#open[0]?.type !== '>');
      if (element === undefined) return undefined;
      const value = element === NOTHING ? NOTHING : this.#close(element);
      if (value === NOTHING) continue;
      this.#release();
      return value;
    }
    return undefined;
  }

  #join(): void {
    if (this.#chunks.length === 0) return;
    const rest = this.#buffer.subarray(this.#at);
    if (rest.length > 0) this.#chunks.unshift(rest);
    this.#buffer = this.#chunks.length === 1 ? (this.#chunks[0] ?? EMPTY) : Buffer.concat(this.#chunks);
    this.#at = 0;
    this.#chunks = [];
  }

  /** Reads one element and consumes its bytes, or consumes none and notes how many it takes. */
  #readElement(binary: boolean): RespValue | typeof NOTHING | undefined {
    const end = this.#findLineEnd();
    if (end === undefined) return undefined;
    const type = String.fromCharCode(this.#buffer[this.#at] ?? 0);
    switch (type) {
      case '$':
      case '=':
      case '!':
        return this.#readBulk(type, end, binary);
      case '*':
      case '~':
      case '%':
      case '>':
      case '|':
        return this.#openAggregate(type, end);
      default: {
        const line = this.#buffer.toString('utf8', this.#at + 1, end);
        this.#consume(end + 2);
        return readScalar(type, line);
      }
    }
  }

  #readBulk(type: '$' | '=' | '!', lineEnd: number, binary: boolean): RespValue | undefined {
    const length = this.#readLength(lineEnd, MAX_BULK);
    const start = lineEnd + 2;
    if (length === -1) {
      this.#consume(start);
      return null;
    }
    const end = start + length;
    if (this.#buffer.length < end + 2) {
      this.#needed = end + 2 - this.#at;
      return undefined;
    }
    if (this.#buffer[end] !== CR || this.#buffer[end + 1] !== LF)
      throw new RespProtocolError('bulk string without end');
    this.#consume(end + 2);
    if (type === '!') return new ValkeyError(this.#buffer.toString('utf8', start, end));
    // A verbatim string says its format first: "txt:".
    const textStart = type === '=' ? start + 4 : start;
    if (!binary) return this.#buffer.toString('utf8', textStart, end);
    const bytes = this.#buffer.subarray(textStart, end);
    // Copied, so that a small value does not keep the whole chunk alive; one that is most of it is not held twice.
    return 2 * bytes.length > this.#buffer.buffer.byteLength ? bytes : Buffer.from(bytes);
  }

  #openAggregate(type: AggregateType, lineEnd: number): RespValue | typeof NOTHING {
    const length = this.#readLength(lineEnd, Number.MAX_SAFE_INTEGER);
    this.#consume(lineEnd + 2);
    if (length === -1) return null;
    const aggregate = { type, items: [], missing: type === '%' || type === '|' ? length * 2 : length };
    if (aggregate.missing === 0) return finishAggregate(aggregate);
    this.#open.push(aggregate);
    return NOTHING;
  }

  /** Puts an element where it belongs; answers with the value that became complete at the top, if one did. */
  #close(element: RespValue): RespValue | typeof NOTHING {
    let value: RespValue | typeof NOTHING = element;
    for (let parent = this.#open.at(-1); parent !== undefined && value !== NOTHING; parent = this.#open.at(-1)) {
      parent.items.push(value);
      parent.missing -= 1;
      if (parent.missing > 0) return NOTHING;
      this.#open.pop();
      value = finishAggregate(parent);
    }
    return value;
  }

  #findLineEnd(): number | undefined {
    const end = this.#buffer.indexOf(CR, this.#at);
    if (end !== -1 && end + 1 < this.#buffer.length) {
      if (this.#buffer[end + 1] !== LF) throw new RespProtocolError('line without LF');
      return end;
    }
    if (this.#available > MAX_LINE) throw new RespProtocolError('line too long');
    this.#needed = this.#available + 1;
    return undefined;
  }

  #readLength(lineEnd: number, max: number): number {
    const first = this.#at + 1;
    if (lineEnd - first === 2 && this.#buffer[first] === MINUS && this.#buffer[first + 1] === ZERO + 1) return -1;
    let length = lineEnd === first ? Number.NaN : 0;
    for (let at = first; at < lineEnd; at += 1) {
      const digit = (this.#buffer[at] ?? 0) - ZERO;
      length = digit >= 0 && digit <= 9 ? length * 10 + digit : Number.NaN;
    }
    if (length <= max) return length;
    throw new RespProtocolError('bad length');
  }

  #consume(to: number): void {
    this.#available -= to - this.#at;
    this.#at = to;
    this.#needed = 1;
  }

  /** An idle connection keeps no chunk alive. */
  #release(): void {
    if (this.#available > 0) return;
    this.#buffer = EMPTY;
    this.#at = 0;
  }
}

function finishAggregate({ type, items }: OpenAggregate): RespValue | typeof NOTHING {
  switch (type) {
    case '*':
      return items;
    case '~':
      return new Set(items);
    case '%': {
      const map = new Map<RespValue, RespValue>();
      for (let at = 0; at < items.length; at += 2) map.set(items[at] ?? null, items[at + 1] ?? null);
      return map;
    }
    case '>': {
      const [kind, ...data] = items;
      return new PushMessage(typeof kind === 'string' ? kind : '', data);
    }
    case '|':
      return NOTHING; // Attributes annotate the next reply; nothing here asks for them.
  }
}

function readScalar(type: string, line: string): RespValue {
  switch (type) {
    case '+':
      return line;
    case '-':
      return new ValkeyError(line);
    case ':':
      return readInteger(line);
    case '_':
      return null;
    case '#':
      if (line === 't' || line === 'f') return line === 't';
      break;
    case ',':
      return readDouble(line);
    case '(':
      if (integerPattern.test(line)) return BigInt(line);
      break;
  }
  throw new RespProtocolError(`unknown element ${JSON.stringify((type + line).slice(0, 32))}`);
}

/** Integers beyond 2^53 stay exact, as bigint. */
function readInteger(line: string): number | bigint {
  if (!integerPattern.test(line)) throw new RespProtocolError('bad integer');
  const number = Number(line);
  return Number.isSafeInteger(number) ? number : BigInt(line);
}

function readDouble(line: string): number {
  if (line === 'inf') return Infinity;
  if (line === '-inf') return -Infinity;
  if (line === 'nan' || line === '-nan') return Number.NaN;
  const number = Number(line);
  if (line === '' || Number.isNaN(number)) throw new RespProtocolError('bad double');
  return number;
}
