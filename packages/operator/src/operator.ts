import { randomUUID } from 'node:crypto';
import { createHttpTransport, KubeClient, LeaderElection, loadAccess } from '@valkey-operator/kube';
import { CredentialHolder, recordRefusals } from '@valkey-operator/rpc/operator';
import { createCaches, listCaches } from './caches.ts';
import { Authorities } from './certificates/authorities.ts';
import { keepCredentialsFresh } from './certificates/operator-credentials.ts';
import { createSupersededCheck } from './certificates/superseded.ts';
import { refuseForeignCrds } from './foreign-crds.ts';
import { startHttpServer } from './http-server.ts';
import { lead, type Term } from './lead.ts';
import type { Logger } from './log.ts';
import { createMetrics } from './metrics.ts';
import type { OperatorOptions } from './options.ts';
import { requireRights } from './rights.ts';
import { watchState } from './state-metrics.ts';
import { createTracing } from './tracing/tracing.ts';
import { heedEpochClaims } from './wire/epoch-claims.ts';
import { createGateway } from './wire/gateway.ts';
import { isFarewell } from './wire/farewell.ts';
import { ReportBook } from './wire/report-book.ts';

const LEASE = 'valkey-operator';

/** The whole process, from its first look at Kubernetes until `ended` aborts. */
export async function runOperator(options: OperatorOptions, log: Logger, ended: AbortSignal): Promise<void> {
  const { namespace, podName, trustDomain, version, watchNamespaces } = options;
  const metrics = createMetrics();
  const transport = createHttpTransport(await loadAccess());
  const client = new KubeClient({ transport, onCall: metrics.countCall });
  const onError = (error: unknown): void => log.warn({ error: String(error) }, 'api server trouble');
  await requireRights({ client, namespace, watchNamespaces });
  await refuseForeignCrds(client);

  const caches = createCaches({ client, namespace, watchNamespaces, onError });
  const stop = new AbortController();
  const watching = listCaches(caches).map(([, cache]) => cache.run(stop.signal));
  let isReady = false;
  const whyNotReady = () => (isReady ? undefined : 'the first look at all resources is not complete');
  await startHttpServer({ port: options.httpPort, registry: metrics.registry, whyNotReady });

  const authorities = await Authorities.load({ client, namespace, trustDomain });
  const credentials = new CredentialHolder(await authorities.issueOperatorCredentials());
  keepCredentialsFresh(credentials, authorities, log, stop.signal);
  const onRefused = recordRefusals({
    log: (refusal) => {
      const { reason, message, peer } = refusal;
      const level = isFarewell(refusal, caches.clusters) ? 'debug' : 'warn';
      log[level]({ reason, peer: peer.address, error: message }, 'peer refused');
    },
    count: (reason) => metrics.refusals.inc({ reason }),
  });
  // The kubelet starts a container again only when the one before has ended: its lease need not run out.
  const election = new LeaderElection({
    client,
    namespace,
    name: LEASE,
    identity: `${podName}_${randomUUID()}`,
    isPredecessor: (holder) => holder.startsWith(`${podName}_`),
    onError,
  });

  const reports = new ReportBook();
  let term: Term | undefined;
  const gateway = createGateway({
    client,
    credentials,
    trustDomain,
    version,
    metrics,
    onRefused,
    isSuperseded: createSupersededCheck(caches.secrets),
    leadership: () => election.leadership,
    onReport: (report, kind) => {
      const { namespace: at, cluster: name = '', uid = '' } = report.pod ?? {};
      const isNew = reports.receive(report);
      term?.sessions.heardOf(uid);
      if (kind === 'event') term?.controller.wakeAnew({ namespace: at, name });
      else if (isNew) term?.controller.wake({ namespace: at, name });
    },
  });
  await gateway.listen(options.gatewayPort);
  await Promise.all(listCaches(caches).map(([, cache]) => cache.whenSynced()));
  isReady = true;
  watchState(metrics, caches, () => term);
  log.info({ version, namespace }, 'operator started');

  const onStale = heedEpochClaims(election, log);
  const { tracing, close: closeTracing } = await createTracing(options, log);
  const shared = { caches, reports, authorities, credentials, metrics, tracing, log };
  const context = { ...shared, options, transport, onRefused, onStale };
  const attach = (next: Term | undefined): void => void (term = next);
  await election.run(ended, (leadership) => lead({ ...context, attach }, leadership));
  await Promise.all([gateway.close(), closeTracing()]);
  stop.abort();
  await Promise.all(watching);
}
