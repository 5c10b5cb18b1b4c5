// Reading and checking certificates with node:crypto alone (see index.ts for why this is an entry point of its own).
export { isVouchedFor } from './authority-name.ts';
export { readCertificate, readCertificates } from './certificate.ts';
export { bundleCertificates, splitCertificates } from './pem.ts';
export { acceptSupersededUntil, planRotation } from './rotation.ts';
export { formatSpiffeId, parseSpiffeId, parseWorkloadId, workloadIdUri } from './spiffe.ts';
export { validateCredentials } from './validate-credentials.ts';
export type { CertificateFacts } from './certificate.ts';
export type { Credentials } from './pem.ts';
export type { RotationPlan, RotationPolicy } from './rotation.ts';
export type { OperatorId, SidecarId, SpiffeId, WorkloadId } from './spiffe.ts';
export type { CredentialExpectation, CredentialProblem, CredentialVerdict } from './validate-credentials.ts';
