import type { ListMeta, ObjectMeta as RawObjectMeta, OwnerReference } from 'kubernetes-types/meta/v1.js';

export type { OwnerReference };

export interface ObjectMeta extends RawObjectMeta {
  name: string;
}

/** Any object one may send: the JSON itself, never a class with Dates in it. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** An object as the API server gave it: it exists, so it has an identity and a version. */
export type Live<T extends KubeObject = KubeObject> = T & { metadata: { uid: string; resourceVersion: string } };

export interface KubeList<T extends KubeObject> {
  metadata: ListMeta;
  items: Live<T>[];
}

/** What names an object within its kind. */
export interface ObjectRef {
  namespace?: string | undefined;
  name: string;
}

/** `namespace/name`, or `name` for cluster-scoped objects: the key of stores and work queues. */
export function keyOf(object: { metadata: ObjectRef }): string {
  return formatKey(object.metadata);
}

export function formatKey(ref: ObjectRef): string {
  return ref.namespace ? `${ref.namespace}/${ref.name}` : ref.name;
}

export function parseKey(key: string): ObjectRef {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** Often half of an object's bytes, and nothing the operator decides by. */
export function dropManagedFields<T extends KubeObject>(object: Live<T>): Live<T> {
  delete object.metadata.managedFields;
  return object;
}
