import { readFile, stat } from 'node:fs/promises';
import { parseClusterNodes, type ClusterNode } from '@valkey-operator/valkey';
import type { NodesConfReader } from './valkey-facts.ts';

/**
 * Valkey tells every client, its sidecar too, the addresses that nodes announce to clients. Those among nodes are only in
 * nodes.conf, which it writes whenever one changes. Where both differ, what clients are told is kept in `aux`.
 */
export function withBusAddresses(nodes: readonly ClusterNode[], saved: readonly ClusterNode[]): ClusterNode[] {
  const byId = new Map(saved.map((node) => [node.id, node]));
  return nodes.map((node) => {
    const known = byId.get(node.id);
    const announced = known?.aux.get('client-ipv4');
    // Over its socket it tells the address among nodes, but the port for clients.
    const isCurrent = known && announced && [announced, known.ip].includes(node.ip);
    return isCurrent ? { ...node, ip: known.ip, port: known.port, aux: known.aux } : node;
  });
}

/** Looks are many and changes few: the file is read only when Valkey has put a new one in its place. */
export function createNodesConfReader(file: string): NodesConfReader {
  let last: { readonly version: string; readonly nodes: readonly ClusterNode[] } = { version: '', nodes: [] };
  return async () => {
    const found = await stat(file).catch(() => undefined);
    const version = found ? [found.ino, found.mtimeMs, found.size].join() : '';
    if (version !== last.version) last = { version, nodes: await readNodesConf(file) };
    return last.nodes;
  };
}

async function readNodesConf(file: string): Promise<ClusterNode[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.includes('client-ipv4=') ? parseClusterNodes(text) : [];
}
