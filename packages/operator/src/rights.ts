import { group } from '@valkey-operator/api';
import { type KubeClient, reviewAccess } from '@valkey-operator/kube';

/** What may be done to some resources; the shape of a rule in a Role. */
export interface Right {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
  resourceNames?: string[];
}

const MANAGE = ['get', 'list', 'watch', 'create', 'patch', 'delete'];

/** Wherever clusters are managed. */
export const workRights: Right[] = [
  { apiGroups: [group], resources: ['valkeyclusters'], verbs: ['get', 'list', 'watch', 'patch'] },
  {
    apiGroups: [group],
    resources: ['valkeyclusters/status', 'valkeyclusterstatuses/status', 'valkeyupgrades/status'],
    verbs: ['patch'],
  },
  // Owner references that block deletion need the right to change finalizers of the owner.
  { apiGroups: [group], resources: ['valkeyclusters/finalizers'], verbs: ['update'] },
  {
    apiGroups: [group],
    resources: ['valkeyclusterstatuses'],
    verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
  },
  { apiGroups: [group], resources: ['valkeyclusterdefaults', 'valkeyupgrades'], verbs: ['list', 'watch'] },
  {
    apiGroups: [group],
    resources: ['valkeycertificatebundles', 'valkeycertificatebindings'],
    verbs: ['create', 'patch'],
  },
  { apiGroups: [''], resources: ['configmaps', 'services', 'serviceaccounts'], verbs: MANAGE },
  { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list', 'watch', 'create', 'patch'] },
  { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch', 'create', 'patch', 'delete'] },
  { apiGroups: [''], resources: ['pods/resize'], verbs: ['patch'] },
  { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: ['list', 'watch', 'patch', 'delete'] },
  { apiGroups: [''], resources: ['events'], verbs: ['get', 'create', 'patch'] },
  { apiGroups: ['apps'], resources: ['statefulsets'], verbs: MANAGE },
  { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: MANAGE },
  { apiGroups: ['networking.k8s.io'], resources: ['networkpolicies'], verbs: MANAGE },
];

/** In the operator's own namespace. */
export const homeRights: Right[] = [
  { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['get', 'create', 'patch'] },
  { apiGroups: [group], resources: ['valkeycas'], verbs: ['get', 'create', 'patch'] },
  { apiGroups: [group], resources: ['valkeycas/status'], verbs: ['patch'] },
  { apiGroups: [group], resources: ['valkeyclusterdefaults'], verbs: ['list', 'watch', 'create'] },
  { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'create'] },
  { apiGroups: [''], resources: ['pods'], verbs: ['list', 'patch'] },
];

/** Of what is in no namespace. */
export const clusterRights: Right[] = [
  { apiGroups: [''], resources: ['nodes'], verbs: ['list', 'watch'] },
  { apiGroups: ['storage.k8s.io'], resources: ['storageclasses'], verbs: ['get'] },
  { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
  {
    apiGroups: ['apiextensions.k8s.io'],
    resources: ['customresourcedefinitions'],
    verbs: ['get'],
    resourceNames: [`valkeyclusters.${group}`],
  },
];

export interface RightsCheck {
  client: KubeClient;
  namespace: string;
  watchNamespaces: string[] | undefined;
}

/** Fails with every right that is missing, one by one, rather than later with the first that is needed (A4). */
export async function requireRights(options: RightsCheck): Promise<void> {
  const missing = await findMissingRights(options);
  if (missing.length === 0) return;
  throw new Error(`missing rights (deploy/operator/rbac.yaml grants them): ${missing.join(', ')}`);
}

export async function findMissingRights({ client, namespace, watchNamespaces }: RightsCheck): Promise<string[]> {
  const questions = [
    ...(watchNamespaces ?? [undefined]).flatMap((place) => questionsOf(workRights, place)),
    ...questionsOf(homeRights, namespace),
    ...questionsOf(clusterRights, undefined),
  ];
  const answers = await Promise.all(questions.map((question) => reviewAccess(client, question)));
  return questions.filter((_, index) => !answers[index]).map(describe);
}

type Question = Parameters<typeof reviewAccess>[1];

function questionsOf(rights: Right[], namespace: string | undefined): Question[] {
  return rights.flatMap(({ apiGroups: [apiGroup = ''], resources, verbs, resourceNames: [name] = [] }) =>
    resources.flatMap((path) =>
      verbs.map((verb) => {
        const [resource = '', subresource] = path.split('/');
        return {
          group: apiGroup,
          resource,
          verb,
          ...(subresource && { subresource }),
          ...(name && { name }),
          ...(namespace && { namespace }),
        };
      }),
    ),
  );
}

function describe({ group: apiGroup, resource, subresource, verb, name, namespace }: Question): string {
  const what = [resource, subresource].filter(Boolean).join('/') + (apiGroup ? `.${apiGroup}` : '');
  return `${verb} ${what}${name ? ` ${name}` : ''}${namespace ? ` in ${namespace}` : ''}`;
}
