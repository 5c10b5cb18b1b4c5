export const group = 'valkey.io';
export const version = 'v1alpha1';
export const apiVersion = `${group}/${version}`;
/** `kubectl get valkey` lists every kind of this category. */
export const category = 'valkey';
