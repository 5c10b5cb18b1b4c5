import type { TLSSocket } from 'node:tls';

import {
  isVouchedFor,
  parseWorkloadId,
  readCertificate,
  type CertificateFacts,
  type WorkloadId,
} from '@valkey-operator/pki/verify';

export type PeerRefusalReason =
  | 'NoCertificate'
  | 'UntrustedCertificate'
  | 'ExpiredCertificate'
  | 'CertificateNotYetValid'
  | 'SupersededCertificate'
  | 'WrongIdentity'
  | 'NoToken'
  | 'InvalidToken'
  | 'ForeignToken'
  | 'HandshakeFailed';

/** The other end of a connection, as far as it has shown itself. */
export interface Peer {
  readonly address: string;
  readonly certificate?: CertificateFacts;
}

export interface PeerRefusal {
  readonly reason: PeerRefusalReason;
  readonly peer: Peer;
  readonly message: string;
}

/** Hears of every peer that was turned away; see recordRefusals for one that counts all and logs each once. */
export type OnPeerRefused = (refusal: PeerRefusal) => void;

export function readPeer(socket: TLSSocket): Peer {
  const address = socket.remoteAddress ?? 'unknown';
  const certificate = socket.getPeerX509Certificate();
  return certificate ? { address, certificate: readCertificate(certificate) } : { address };
}

/** Why a server must turn away the peer it let through the handshake, if it must. */
export function findHandshakeProblem(socket: TLSSocket, peer: Peer): PeerRefusal | undefined {
  if (!peer.certificate) return { reason: 'NoCertificate', peer, message: 'no certificate was presented' };
  return socket.authorized ? undefined : describeVerdict(socket, peer);
}

/** What OpenSSL found wrong with the certificate of the peer. */
export function describeVerdict({ authorizationError: error }: TLSSocket, peer: Peer): PeerRefusal {
  const code = typeof error === 'string' ? error : (error?.message ?? 'UNSPECIFIED');
  return { reason: CERTIFICATE_ERRORS[code] ?? 'UntrustedCertificate', peer, message: code };
}

const CERTIFICATE_ERRORS: Readonly<Record<string, PeerRefusalReason>> = {
  CERT_HAS_EXPIRED: 'ExpiredCertificate',
  CERT_NOT_YET_VALID: 'CertificateNotYetValid',
};

/** Who gives out the certificates. */
export type IdentityProvider =
  /** The operator's own CAs: one certificate for all sidecars of a cluster, from the CA of that cluster. */
  | 'internal'
  /** SPIRE: one certificate for each pod, which its id names. */
  | 'spire';

/** Whom one side of a connection accepts on the other. */
export interface PeerPolicy {
  readonly identity?: IdentityProvider;
  readonly admits: (id: WorkloadId) => boolean;
}

export type IdentityVerdict = { readonly id: WorkloadId } | { readonly refusal: PeerRefusal };

/**
 * Who a peer with a trusted certificate is, and whether it is welcome. Asked for each call: a connection outlives the
 * certificate it was opened with, the right to begin something new on it does not.
 */
export function identifyPeer(peer: Peer, policy: PeerPolicy, now: Date): IdentityVerdict {
  const { certificate } = peer;
  if (!certificate) return { refusal: { reason: 'NoCertificate', peer, message: 'no certificate was presented' } };
  if (now > certificate.notAfter) {
    const message = `the certificate ended at ${certificate.notAfter.toISOString()}`;
    return { refusal: { reason: 'ExpiredCertificate', peer, message } };
  }
  const [uri = '', ...others] = certificate.uris;
  const id = others.length === 0 ? parseWorkloadId(uri) : undefined;
  if (id && isProvidedBy(policy.identity ?? 'internal', id, certificate) && policy.admits(id)) return { id };
  const name = certificate.uris.join(', ') || 'a certificate without a SPIFFE id';
  const message = `${name}, vouched for by ${certificate.issuer.replaceAll('\n', ', ')}, is not admitted`;
  return { refusal: { reason: 'WrongIdentity', peer, message } };
}

function isProvidedBy(provider: IdentityProvider, id: WorkloadId, certificate: CertificateFacts): boolean {
  const namesPod = id.kind === 'sidecar' && id.pod !== undefined;
  if (provider === 'spire') return id.kind === 'operator' || namesPod;
  return !namesPod && isVouchedFor(id, certificate);
}
