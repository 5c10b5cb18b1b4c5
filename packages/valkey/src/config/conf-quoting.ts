/**
 * The quoting rules of valkey.conf: words are separated by blanks; "..." knows \n \r \t \a \b \xHH and takes any other
 * character after a backslash as it is; '...' knows only \'.
 */

export class UnsafeConfTextError extends Error {
  override readonly name = 'UnsafeConfTextError';
}

/** Text that needs no quotes anywhere on a line. */
const plainWord = /^[A-Za-z0-9_./:@%+,=*{}<>!?^~|&()[\]$;-]+$/;
const printable = /^[ -~]$/;

/**
 * A word that `splitConfLine` reads back as it was. Line breaks and NUL are refused although they could be escaped: no
 * setting has use for them, and they are what an injected directive is made of.
 */
export function quoteConfWord(word: string): string {
  if (/[\n\r\0]/.test(word)) throw new UnsafeConfTextError('a setting may hold no line break and no NUL');
  if (plainWord.test(word)) return word;
  const escaped = Array.from(word, (character) => {
    if (character === '"' || character === '\\') return `\\${character}`;
    return printable.test(character) ? character : escapeBytes(character);
  });
  return `"${escaped.join('')}"`;
}

function escapeBytes(character: string): string {
  return Array.from(new TextEncoder().encode(character), (byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
}

const escapes: Readonly<Record<string, number>> = { n: 0x0a, r: 0x0d, t: 0x09, b: 0x08, a: 0x07 };
const isBlank = (character: string | undefined) => character === undefined || /[ \t\n\v\f\r]/.test(character);

/** The words of one line as Valkey would read them, or undefined where it would say "unbalanced quotes". */
export function splitConfLine(line: string): string[] | undefined {
  const words: string[] = [];
  for (let at = skipBlanks(line, 0); at < line.length; at = skipBlanks(line, at)) {
    const word = readWord(line, at);
    if (word === undefined) return undefined;
    words.push(new TextDecoder().decode(Uint8Array.from(word.bytes)));
    at = word.end;
  }
  return words;
}

function skipBlanks(line: string, from: number): number {
  let at = from;
  while (at < line.length && isBlank(line[at])) at += 1;
  return at;
}

interface Piece {
  readonly bytes: number[];
  readonly end: number;
}

/** A word ends at a blank, or right after the quotes that it ends in: `a"b"c` is an error, `a"b"` is ab. */
function readWord(line: string, start: number): Piece | undefined {
  const bytes: number[] = [];
  for (let at = start; ;) {
    const character = line[at];
    if (character === undefined || /[ \t\n\r\0]/.test(character)) return { bytes, end: at };
    if (character === '"' || character === "'") {
      const quoted = character === '"' ? readDoubleQuoted(line, at + 1) : readSingleQuoted(line, at + 1);
      if (quoted === undefined || !isBlank(line[quoted.end])) return undefined;
      return { bytes: [...bytes, ...quoted.bytes], end: quoted.end };
    }
    at = takeCharacter(line, at, bytes);
  }
}

function readDoubleQuoted(line: string, start: number): Piece | undefined {
  const bytes: number[] = [];
  for (let at = start; at < line.length;) {
    if (line[at] === '"') return { bytes, end: at + 1 };
    const hex = /^\\x([0-9a-f]{2})/i.exec(line.slice(at, at + 4))?.[1];
    const escape = line[at] === '\\' ? escapes[line[at + 1] ?? ''] : undefined;
    if (hex !== undefined) {
      bytes.push(Number.parseInt(hex, 16));
      at += 4;
    } else if (escape !== undefined) {
      bytes.push(escape);
      at += 2;
    } else {
      const literal = line[at] === '\\' && at + 1 < line.length ? at + 1 : at;
      at = takeCharacter(line, literal, bytes);
    }
  }
  return undefined;
}

function readSingleQuoted(line: string, start: number): Piece | undefined {
  const bytes: number[] = [];
  for (let at = start; at < line.length;) {
    if (line[at] === "'") return { bytes, end: at + 1 };
    at = takeCharacter(line, line.startsWith("\\'", at) ? at + 1 : at, bytes);
  }
  return undefined;
}

/** Appends the character at this place as UTF-8 and says where the next one begins. */
function takeCharacter(line: string, at: number, bytes: number[]): number {
  const character = String.fromCodePoint(line.codePointAt(at) ?? 0);
  bytes.push(...new TextEncoder().encode(character));
  return at + character.length;
}
