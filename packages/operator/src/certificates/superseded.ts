import { childNames } from '@valkey-operator/core';
import type { ObjectRef, Secret } from '@valkey-operator/kube';
import { acceptSupersededUntil, type CertificateFacts, type SidecarId } from '@valkey-operator/pki/verify';
import { readFacts } from './certificate-view.ts';

/**
 * A new certificate reaches a pod when the kubelet refreshes its volumes, within about a minute and a half. Certificates are
 * replaced with a fifth of their life left, so no pod is touched to hurry it.
 */
const GRACE_MS = 10 * 60_000;

/**
 * Whether a sidecar's certificate has been replaced for longer than the grace period. The Secret is the memory: whatever is
 * older than the certificate in it was replaced when that one was issued; what is newer, this operator has yet to see.
 */
export function createSupersededCheck(
  secrets: { get(ref: ObjectRef): Secret | undefined },
  now: () => Date = () => new Date(),
): (certificate: CertificateFacts, sidecar: SidecarId) => boolean {
  return (certificate, { namespace, cluster }) => {
    const secret = secrets.get({ namespace, name: childNames(cluster).sidecarSecret });
    const active = secret && readFacts(secret);
    if (!active || active.thumbprint === certificate.thumbprint) return false;
    if (certificate.notBefore >= active.notBefore) return false;
    const { notAfter } = certificate;
    return now() > acceptSupersededUntil({ supersededAt: active.notBefore, notAfter }, GRACE_MS);
  };
}
