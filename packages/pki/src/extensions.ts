import { DER_TAG, readElements } from './der.ts';

export interface Extensions {
  readonly isCa: boolean;
  readonly pathLength?: number;
  /** Absent: the certificate has no key usage extension, which allows everything. */
  readonly keyUsage?: { readonly digitalSignature: boolean; readonly keyCertSign: boolean };
  readonly dnsNames: readonly string[];
  readonly uris: readonly string[];
}

const OID = { keyUsage: '551d0f', subjectAltName: '551d11', basicConstraints: '551d13' } as const;

/** The extensions of a certificate (RFC 5280 4.2) that decide what it may be used for. */
export function readExtensions(certificate: Buffer): Extensions {
  const values = findExtensions(certificate);
  const names = readElements(contentOf(values.get(OID.subjectAltName)));
  return {
    ...readBasicConstraints(values.get(OID.basicConstraints)),
    ...readKeyUsage(values.get(OID.keyUsage)),
    dnsNames: names.filter(({ tag }) => tag === DER_TAG.dnsName).map(({ value }) => value.toString('latin1')),
    uris: names.filter(({ tag }) => tag === DER_TAG.uri).map(({ value }) => value.toString('latin1')),
  };
}

/** Certificate ::= SEQUENCE { tbs SEQUENCE { ..., [3] SEQUENCE OF SEQUENCE { oid, critical?, OCTET STRING } }, ... } */
function findExtensions(certificate: Buffer): Map<string, Buffer> {
  const tbs = contentOf(contentOf(certificate));
  const list = readElements(tbs).find(({ tag }) => tag === DER_TAG.extensions);
  const extensions = list ? readElements(contentOf(list.value)) : [];
  return new Map(
    extensions.map(({ value }) => {
      const parts = readElements(value);
      return [parts.at(0)?.value.toString('hex') ?? '', parts.at(-1)?.value ?? Buffer.alloc(0)];
    }),
  );
}

function readBasicConstraints(value: Buffer | undefined): Pick<Extensions, 'isCa' | 'pathLength'> {
  const parts = readElements(contentOf(value));
  const isCa = parts.some(({ tag, value: flag }) => tag === DER_TAG.boolean && flag[0] === 0xff);
  const pathLength = parts.find(({ tag }) => tag === DER_TAG.integer)?.value;
  return pathLength ? { isCa, pathLength: pathLength.readUIntBE(0, pathLength.length) } : { isCa };
}

/** KeyUsage ::= BIT STRING: after the count of unused bits, bit 0 (0x80) digitalSignature, bit 5 (0x04) keyCertSign. */
function readKeyUsage(value: Buffer | undefined): Pick<Extensions, 'keyUsage'> {
  if (!value) return {};
  const bits = contentOf(value)[1] ?? 0;
  return { keyUsage: { digitalSignature: (bits & 0x80) !== 0, keyCertSign: (bits & 0x04) !== 0 } };
}

function contentOf(bytes: Buffer | undefined): Buffer {
  const [first] = bytes ? readElements(bytes) : [];
  return first?.value ?? Buffer.alloc(0);
}
