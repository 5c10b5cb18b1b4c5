// Issuing: what only the operator does. Its ASN.1 library costs memory, so everything a sidecar needs to read, check and
// schedule certificates is in the entry point "@valkey-operator/pki/verify", which uses nothing but node:crypto.
export { createClusterCa, createOperatorCa, createRootCa } from './create-authority.ts';
export { issueOperatorCertificate, issueSidecarCertificate, issueTlsCertificate } from './issue-leaf.ts';
export type { Authority } from './sign-certificate.ts';
export type { CaRequest } from './create-authority.ts';
export type { OperatorRequest, SidecarRequest, TlsRequest } from './issue-leaf.ts';
