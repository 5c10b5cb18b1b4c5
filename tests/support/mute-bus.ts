import { execFileSync } from 'node:child_process';
import { ports } from '@valkey-operator/api';
import { findPodProcesses } from './pod-processes.ts';

const TABLE = 'inet muted_bus';
const RULES = `table ${TABLE} {
  chain out {
    type filter hook output priority 0
    tcp dport ${ports.valkeyBus} drop
    tcp sport ${ports.valkeyBus} drop
  }
}
`;

/** The Valkey of a pod goes on serving, but nobody hears from it on the cluster bus until the returned function is called. */
export function muteBus(podUid: string): () => void {
  const [sidecar] = findPodProcesses(podUid, 'node');
  const nft = (input: string) => execFileSync('nsenter', ['-t', `${sidecar}`, '-n', 'nft', '-f', '-'], { input });
  nft(RULES);
  return () => void nft(`delete table ${TABLE}\n`);
}
