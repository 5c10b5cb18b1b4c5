export const SLOT_COUNT = 16_384;

/** CRC16-CCITT (XMODEM): polynomial 0x1021, as the cluster specification asks. */
const table = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc;
});

export function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) crc = ((crc << 8) ^ (table[((crc >> 8) ^ byte) & 0xff] ?? 0)) & 0xffff;
  return crc;
}

const OPEN = 0x7b;
const CLOSE = 0x7d;

/** The slot of a key: of what stands between its first `{` and the next `}`, if anything does; else of the whole key. */
export function keySlot(key: string | Uint8Array): number {
  const bytes = typeof key === 'string' ? new TextEncoder().encode(key) : key;
  const open = bytes.indexOf(OPEN);
  const close = open === -1 ? -1 : bytes.indexOf(CLOSE, open + 1);
  const hashed = close > open + 1 ? bytes.subarray(open + 1, close) : bytes;
  return crc16(hashed) % SLOT_COUNT;
}
