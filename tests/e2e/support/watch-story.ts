import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestCluster } from '../../support/test-cluster.ts';

/** What a person sees who watches while this happens: kubectl get vc -w, or one field of it alone. */
export async function watchStory(
  cluster: TestCluster,
  during: () => Promise<unknown>,
  field?: string,
): Promise<string> {
  const { lab, namespace, name } = cluster;
  const columns = field === undefined ? [] : ['-o', `custom-columns=STORY:${field}`, '--no-headers'];
  const watch = spawn(join(lab.binaries, 'kubectl'), ['-n', namespace, 'get', 'vc', name, '-w', ...columns], {
    env: { ...process.env, KUBECONFIG: lab.kubeconfig },
  });
  const told = text(watch.stdout);
  await during().finally(() => watch.kill());
  return told;
}
