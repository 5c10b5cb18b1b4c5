/** A path as the API server writes it: spec.tolerations[0].key */
export function formatPath(segments: readonly PropertyKey[]): string {
  return segments.reduce<string>((path, segment) => {
    if (typeof segment === 'number') return `${path}[${segment}]`;
    return path === '' ? String(segment) : `${path}.${String(segment)}`;
  }, '');
}

export function valueAt(root: unknown, segments: readonly PropertyKey[]): unknown {
  return segments.reduce<unknown>(
    (value, segment) => (value as Record<PropertyKey, unknown> | undefined)?.[segment],
    root,
  );
}
