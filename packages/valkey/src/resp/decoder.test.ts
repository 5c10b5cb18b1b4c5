import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RespDecoder } from './decoder.ts';
import { encodeCommand, encodeReply } from './encoder.ts';
import { ValkeyError } from './valkey-error.ts';
import { PushMessage, RespProtocolError, type RespValue } from './value.ts';

function decodeAll(chunks: Buffer[], binary = false): RespValue[] {
  const decoder = new RespDecoder();
  const values: RespValue[] = [];
  for (const chunk of chunks) {
    decoder.push(chunk);
    for (let value = decoder.read(binary); value !== undefined; value = decoder.read(binary)) values.push(value);
  }
  return values;
}

const decodeText = (text: string) => decodeAll([Buffer.from(text)]);

const scalar: fc.Arbitrary<RespValue> = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.maxSafeInteger(),
  fc.double(),
  fc.bigInt(),
  fc.boolean(),
  fc.constant(null),
  fc.string().map((text) => new ValkeyError(text)),
);
const reply = fc.letrec<{ value: RespValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    scalar,
    fc.array(tie('value'), { maxLength: 5 }),
    fc.uniqueArray(fc.string(), { maxLength: 5 }).map((items) => new Set<RespValue>(items)),
    fc
      .array(fc.tuple(fc.string(), tie('value')), { maxLength: 5 })
      .map((pairs) => new Map<RespValue, RespValue>(pairs)),
  ),
})).value;
const push = fc.tuple(fc.string(), fc.array(scalar)).map(([kind, data]) => new PushMessage(kind, data));

/** Cuts the bytes into chunks of the given lengths; what is left is the last chunk. */
function cut(bytes: Buffer, lengths: number[]): Buffer[] {
  const chunks: Buffer[] = [];
  let at = 0;
  for (const length of lengths) {
    chunks.push(bytes.subarray(at, at + length));
    at += length;
  }
  return [...chunks, bytes.subarray(at)];
}

describe('RespDecoder', () => {
  it('copies a small value out of its chunk, so that this one can be freed, and not one that is most of it', () => {
    const isCopied = (length: number) => {
      const chunk = Buffer.from(encodeReply(['x'.repeat(length), 'y'.repeat(5000)]));
      const [[value]] = decodeAll([chunk], true) as [[Buffer]];
      expect(value).toEqual(Buffer.alloc(length, 'x'));
      return value.buffer !== chunk.buffer;
    };
    expect([isCopied(4000), isCopied(6000)]).toEqual([true, false]);
  });

  it('gives back what was encoded, however the bytes are cut into chunks', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(reply, push), { maxLength: 4 }),
        fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 200 }),
        (values, lengths) => {
          const bytes = Buffer.concat(values.map(encodeReply));
          expect(decodeAll(cut(bytes, lengths))).toStrictEqual(values);
        },
      ),
    );
  });

  it('reads every scalar type', () => {
    expect(
      decodeText('+OK\r\n:-7\r\n:9223372036854775807\r\n_\r\n#t\r\n#f\r\n,1.5e3\r\n,inf\r\n,-inf\r\n'),
    ).toStrictEqual(['OK', -7, 9223372036854775807n, null, true, false, 1500, Infinity, -Infinity]);
    expect(decodeText(',nan\r\n(123456789012345678901\r\n=7\r\ntxt:abc\r\n$0\r\n\r\n')).toStrictEqual([
      Number.NaN,
      123456789012345678901n,
      'abc',
      '',
    ]);
  });

  it('reads the nulls of RESP2', () => {
    expect(decodeText('$-1\r\n*-1\r\n')).toStrictEqual([null, null]);
  });

  it('reads both kinds of error as values', () => {
    const [simple, blob] = decodeText('-LOADING in progress\r\n!10\r\nERR a\r\nb c\r\n');
    expect(simple).toMatchObject({ code: 'LOADING', message: 'LOADING in progress' });
    expect(blob).toMatchObject({ code: 'ERR', message: 'ERR a\r\nb c' });
  });

  it('drops attributes and keeps the reply that they annotate', () => {
    expect(decodeText('|1\r\n+ttl\r\n:3600\r\n*2\r\n:1\r\n|0\r\n:2\r\n')).toStrictEqual([[1, 2]]);
  });

  it('gives bulk strings as bytes on request, but push messages as text', () => {
    const bytes = Buffer.from([0xff, 0x00, 0x0d, 0x0a]);
    const stream = Buffer.concat([encodeReply(new PushMessage('message', ['news'])), encodeReply([bytes])]);
    expect(decodeAll([stream], true)).toStrictEqual([new PushMessage('message', ['news']), [bytes]]);
  });

  it.each([
    '?x\r\n',
    ':1x\r\n',
    '$-2\r\n',
    '*1x\r\n',
    '#y\r\n',
    ',\r\n',
    '(1.5\r\n',
    '$1\r\nabc\r\n',
    '+a\rb\r\n',
    '$\r\n',
    '$?\r\n',
  ])('refuses %j', (text) => {
    expect(() => decodeText(text)).toThrow(RespProtocolError);
  });

  it('refuses a line that never ends', () => {
    expect(() => decodeText(`+${'a'.repeat(70_000)}`)).toThrow('line too long');
  });

  it.each(['8.0', '8.1', '9.1'])('reads what Valkey %s answered to HELLO 3', (version) => {
    const [hello] = decodeAll([readFileSync(new URL(`../testdata/hello-${version}.resp`, import.meta.url))]);
    expect(hello).toBeInstanceOf(Map);
    expect(hello).toSatisfy((map: Map<string, RespValue>) => map.get('proto') === 3 && map.get('mode') === 'cluster');
  });
});

describe('encodeCommand', () => {
  it('makes the array of bulk strings that a server reads', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string({ unit: 'grapheme' }), fc.maxSafeInteger(), fc.bigInt())), (args) => {
        expect(decodeAll([encodeCommand(args)])).toStrictEqual([args.map(String)]);
      }),
    );
  });

  it('sends bytes as they are', () => {
    const bytes = Buffer.from([0xff, 0x0d, 0x0a, 0x00]);
    expect(decodeAll([encodeCommand(['SET', 'k', bytes])], true)).toStrictEqual([
      [Buffer.from('SET'), Buffer.from('k'), bytes],
    ]);
  });
});

describe('ValkeyError', () => {
  it.each([
    ['MOVED 3999 10.0.0.1:6381', { kind: 'moved', slot: 3999, host: '10.0.0.1', port: 6381 }],
    ['ASK 0 ::1:6379', { kind: 'ask', slot: 0, host: '::1', port: 6379 }],
    ['MOVED 1 :6379', { kind: 'moved', slot: 1, host: '', port: 6379 }],
    ['MOVED 1 ?:6379', { kind: 'moved', slot: 1, host: '', port: 6379 }],
  ])('reads the redirect of %j', (message, redirect) => {
    expect(new ValkeyError(message).redirect).toEqual(redirect);
  });

  it('has the code ERR when the message does not begin with one', () => {
    expect(new ValkeyError('unknown command').code).toBe('ERR');
    expect(new ValkeyError('WRONGTYPE Operation').code).toBe('WRONGTYPE');
  });

  it.each(['8.0', '8.1', '9.1'])('reads the ASK that Valkey %s gave for a slot on its way', (version) => {
    const [ask] = decodeAll([readFileSync(new URL(`../testdata/ask-${version}.resp`, import.meta.url))]);
    expect(ask).toMatchObject({ code: 'ASK', redirect: { kind: 'ask', slot: 93, host: '127.0.0.1' } });
  });
});
