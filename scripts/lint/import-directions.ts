import { builtinModules } from 'node:module';

/**
 * Which workspace package may import which. Imports point one way: knowledge (api, valkey) at the bottom,
 * pure decisions (core) on top of it, processes (operator, sidecar) last. Nothing imports a process.
 */
export const mayImport: Record<string, readonly string[]> = {
  api: [],
  valkey: [],
  pki: [],
  rpc: ['pki'],
  kube: [],
  core: ['api', 'valkey'],
  operator: ['api', 'core', 'kube', 'pki', 'rpc', 'valkey'],
  sidecar: ['api', 'pki', 'rpc', 'valkey'],
  lab: ['api', 'kube'],
};

/** The Kubernetes client and its transport have one importer, so that there is one place to fix them. */
const kubeTransport = { group: ['@kubernetes/client-node', '@kubernetes/client-node/*', 'undici'] };

const builtins = builtinModules.flatMap((name) => [name, `node:${name}`]);

/** `no-restricted-imports` patterns that hold `name` to its row of the table. */
export function restrictImports(name: string) {
  const forbidden = Object.keys(mayImport).filter((other) => other !== name && !mayImport[name]?.includes(other));
  const allowed = mayImport[name]?.join(', ') || 'no other package of this workspace';
  return [
    {
      regex: `^@valkey-operator/(${forbidden.join('|')})(/|$)`,
      message: `${name} may import ${allowed}: see scripts/lint/import-directions.ts.`,
    },
    {
      regex: `^(\\.\\./)+(packages/)?(${Object.keys(mayImport).join('|')})/`,
      message: 'Import another package by its name, through what it exports.',
    },
    ...(name === 'kube' ? [] : [{ ...kubeTransport, message: 'Only packages/kube talks to the API server.' }]),
  ];
}

/** What no pure function may import: everything of Node, save the hash that the builders stamp on a configuration. */
export const restrictIo = {
  paths: [
    { name: 'node:crypto', allowImportNames: ['createHash'], message: 'core is pure: only createHash is.' },
    ...builtins
      .filter((name) => name !== 'node:crypto')
      .map((name) => ({ name, message: 'core is pure: no I/O. Pass what it needs in the snapshot.' })),
  ],
};
