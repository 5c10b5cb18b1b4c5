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
/** Otherwise the kernel would repeat what a process had to say when it died for a minute, and deliver it once it may. */
const LAST_WORDS_ARE_LOST = 'echo 1 > /proc/sys/net/ipv4/tcp_orphan_retries';

/** The Valkey of a pod goes on serving, but nobody hears from it on the cluster bus until the returned function is called. */
export function muteBus(podUid: string): () => void {
  const [sidecar] = findPodProcesses(podUid, 'node');
  const inPod = (command: string[], input = '') =>
    execFileSync('nsenter', ['-t', `${sidecar}`, '-n', ...command], { input });
  inPod(['sh', '-c', LAST_WORDS_ARE_LOST]);
  inPod(['nft', '-f', '-'], RULES);
  return () => void inPod(['nft', '-f', '-'], `delete table ${TABLE}\n`);
}
