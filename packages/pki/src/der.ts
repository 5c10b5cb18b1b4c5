/** One element of DER (X.690): what node:crypto does not tell of a certificate is read with this. */
export interface DerElement {
  readonly tag: number;
  readonly value: Buffer;
}

export const DER_TAG = {
  boolean: 0x01,
  integer: 0x02,
  sequence: 0x30,
  extensions: 0xa3,
  dnsName: 0x82,
  uri: 0x86,
} as const;

/** The elements that lie one after another in `bytes`. */
export function readElements(bytes: Buffer): DerElement[] {
  const elements: DerElement[] = [];
  for (let at = 0; at < bytes.length;) {
    const { start, end } = readLength(bytes, at + 1);
    elements.push({ tag: bytes.readUInt8(at), value: bytes.subarray(start, end) });
    at = end;
  }
  return elements;
}

function readLength(bytes: Buffer, at: number): { start: number; end: number } {
  const first = bytes.readUInt8(at);
  // Above 0x80 the low bits count the bytes of the length; 0x80 itself (indefinite) is not DER.
  const lengthBytes = first > 0x80 ? first - 0x80 : 0;
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(at + 1, lengthBytes);
  const start = at + 1 + lengthBytes;
  if (first === 0x80 || start + length > bytes.length) throw new RangeError('malformed DER length');
  return { start, end: start + length };
}
