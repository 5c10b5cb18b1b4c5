import type { KubeObject } from './object.ts';
import { controllerOf } from './owner.ts';

/** By the uid of the controlling owner. */
export function byController(object: KubeObject): string[] {
  const controller = controllerOf(object);
  return controller ? [controller.uid] : [];
}

/** By the value of one label. */
export function byLabel(label: string): (object: KubeObject) => string[] {
  return ({ metadata }) => {
    const value = metadata.labels?.[label];
    return value === undefined ? [] : [value];
  };
}
