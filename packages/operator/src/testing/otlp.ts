import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';

/** A span as a collector gets it. */
export interface ReceivedSpan {
  readonly service: string;
  readonly instance?: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId?: string;
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly error?: string;
  readonly attributes: Readonly<Record<string, string | number>>;
}

type Fields = Map<number, (Uint8Array | bigint | number)[]>;

/** Any message of protobuf, by the numbers of its fields. */
function readFields(bytes: Uint8Array): Fields {
  const reader = new BinaryReader(bytes);
  const fields: Fields = new Map();
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    const value =
      type === WireType.LengthDelimited
        ? reader.bytes()
        : type === WireType.Bit64
          ? BigInt(reader.fixed64())
          : type === WireType.Bit32
            ? reader.fixed32()
            : BigInt(reader.uint64());
    fields.set(number, [...(fields.get(number) ?? []), value]);
  }
  return fields;
}

const messages = (fields: Fields, number: number): Fields[] =>
  (fields.get(number) ?? []).map((value) => readFields(value as Uint8Array));
const text = (fields: Fields, number: number): string => Buffer.from(first(fields, number)).toString();
const hex = (fields: Fields, number: number): string => Buffer.from(first(fields, number)).toString('hex');
const nanos = (fields: Fields, number: number): number => Number((fields.get(number)?.[0] as bigint) / 1_000_000n);
const first = (fields: Fields, number: number): Uint8Array =>
  (fields.get(number)?.[0] ?? new Uint8Array()) as Uint8Array;

/** KeyValue { key = 1, value = 2 }, AnyValue { string_value = 1, int_value = 3 }. */
function readAttributes(fields: Fields, number: number): Record<string, string | number> {
  const pairs = messages(fields, number).map((pair) => {
    const [value] = messages(pair, 2);
    const whole = value?.get(3)?.[0];
    return [text(pair, 1), whole === undefined ? text(value!, 1) : Number(whole)] as const;
  });
  return Object.fromEntries(pairs);
}

/** What a collector gets by OTLP/HTTP. The numbers are those of opentelemetry/proto/trace/v1/trace.proto. */
export function readSpans(body: Uint8Array): ReceivedSpan[] {
  return messages(readFields(body), 1).flatMap((resourceSpans) => {
    const [resource] = messages(resourceSpans, 1);
    const { 'service.name': service, 'service.instance.id': instance } = readAttributes(resource!, 1);
    const spans = messages(resourceSpans, 2).flatMap((scopeSpans) => messages(scopeSpans, 2));
    return spans.map((span) => {
      const [status] = messages(span, 15);
      return {
        service: String(service),
        ...(instance !== undefined && { instance: String(instance) }),
        traceId: hex(span, 1),
        spanId: hex(span, 2),
        ...(span.has(4) && { parentId: hex(span, 4) }),
        name: text(span, 5),
        startMs: nanos(span, 7),
        endMs: nanos(span, 8),
        attributes: readAttributes(span, 9),
        ...(status?.has(2) && { error: text(status, 2) }),
      };
    });
  });
}
