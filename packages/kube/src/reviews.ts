import type * as authentication from 'kubernetes-types/authentication/v1.js';
import type * as authorization from 'kubernetes-types/authorization/v1.js';
import type { CallOptions } from './api-call.ts';
import type { KubeClient } from './client.ts';
import type { KubeObject } from './object.ts';
import { defineResource } from './resource.ts';

type TokenReview = authentication.TokenReview & KubeObject;
type SelfSubjectAccessReview = authorization.SelfSubjectAccessReview & KubeObject;

const tokenReviews = defineResource<TokenReview>('authentication.k8s.io/v1', 'TokenReview', 'tokenreviews', 'Cluster');
const accessReviews = defineResource<SelfSubjectAccessReview>(
  'authorization.k8s.io/v1',
  'SelfSubjectAccessReview',
  'selfsubjectaccessreviews',
  'Cluster',
);

/** Reviews are questions: they are never stored and so have no name. */
const NAMELESS = { name: '' };

/** Whose token it is, or undefined when the server does not vouch for it for one of these audiences. */
export async function reviewToken(
  client: KubeClient,
  token: string,
  audiences: string[],
  options: CallOptions = {},
): Promise<authentication.UserInfo | undefined> {
  const review: TokenReview = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    metadata: NAMELESS,
    spec: { token, audiences },
  };
  const { status } = await client.create(tokenReviews, review, options);
  // A server that does not know audiences leaves the field empty, and has then not checked them.
  const forUs = status?.audiences?.some((audience) => audiences.includes(audience)) ?? false;
  return status?.authenticated && forUs ? status.user : undefined;
}

/** Whether this client may do what the attributes say. */
export async function reviewAccess(
  client: KubeClient,
  attributes: authorization.ResourceAttributes,
  options: CallOptions = {},
): Promise<boolean> {
  const review: SelfSubjectAccessReview = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    metadata: NAMELESS,
    spec: { resourceAttributes: attributes },
  };
  return (await client.create(accessReviews, review, options)).status?.allowed ?? false;
}
