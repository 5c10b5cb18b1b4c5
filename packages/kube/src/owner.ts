import type { KubeObject, Live, OwnerReference } from './object.ts';

/**
 * The reference that makes `owner` the controller of a child. `blockOwnerDeletion` lets a foreground delete of the owner
 * wait for the child.
 */
export function ownerReferenceTo(owner: Live): OwnerReference {
  const { apiVersion, kind, metadata } = owner;
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true, blockOwnerDeletion: true };
}

export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((reference) => reference.controller === true);
}

/** By uid, not by name: a child of a deleted owner does not belong to the owner's namesake. */
export function isControlledBy(object: KubeObject, owner: Live): boolean {
  return controllerOf(object)?.uid === owner.metadata.uid;
}
