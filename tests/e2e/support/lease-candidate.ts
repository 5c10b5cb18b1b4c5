import { createHttpTransport, KubeClient, LeaderElection, loadAccess } from '@valkey-operator/kube';

/** A process that stands for election: `lease-candidate.ts NAMESPACE NAME IDENTITY`. Prints a line when it leads and when it no longer may. */
const [namespace = '', name = '', identity = ''] = process.argv.slice(2);
const client = new KubeClient({ transport: createHttpTransport(await loadAccess()) });
const times = { durationMs: 3_000, deadlineMs: 2_000, periodMs: 500 };
const election = new LeaderElection({ client, namespace, name, identity, times });
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort());

await election.run(stop.signal, async ({ epoch, signal }) => {
  console.log(`leads ${epoch}`);
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  console.log(`ends ${epoch}`);
});
