import { readFile } from 'node:fs/promises';
import { parseClusterNodes, type ClusterNode } from '@valkey-operator/valkey';

/**
 * Valkey tells every client, its sidecar too, the addresses that nodes announce to clients. Those among nodes are only in
 * nodes.conf, which it writes whenever one changes.
 */
export function withBusAddresses(nodes: readonly ClusterNode[], saved: readonly ClusterNode[]): ClusterNode[] {
  const byId = new Map(saved.map((node) => [node.id, node]));
  return nodes.map((node) => {
    const known = byId.get(node.id);
    const announced = known?.aux.get('client-ipv4');
    return known && announced && announced === node.ip ? { ...node, ip: known.ip, port: known.port } : node;
  });
}

export async function readNodesConf(file: string): Promise<ClusterNode[]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.includes('client-ipv4=') ? parseClusterNodes(text) : [];
}
