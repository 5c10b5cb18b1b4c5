import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findPodProcesses, signalPodProcess } from '../../support/pod-processes.ts';
import type { Member } from '../../support/test-cluster.ts';

export const VALKEY = 'valkey-server';

/** Takes files from under a node and kills its Valkey at once, so that it finds them missing and has not written them again. */
export function loseFiles({ podUid, pod }: Member, lost: (name: string) => boolean): void {
  signalPodProcess(podUid, VALKEY, 'SIGSTOP');
  const [pid] = findPodProcesses(podUid, VALKEY);
  const data = `/proc/${pid}/root/data`;
  const names = readdirSync(data).filter(lost);
  if (names.length === 0) throw new Error(`nothing to lose in the data directory of ${pod}`);
  for (const name of names) rmSync(join(data, name), { recursive: true });
  signalPodProcess(podUid, VALKEY, 'SIGKILL');
}
