import { randomUUID } from 'node:crypto';
import {
  createHttpTransport,
  EventRecorder,
  KubeClient,
  LeaderElection,
  type Leadership,
  loadAccess,
} from '@valkey-operator/kube';
import { CredentialHolder, recordRefusals } from '@valkey-operator/rpc/operator';
import { Authorities } from './authorities.ts';
import { createCaches } from './caches.ts';
import { ClusterController } from './cluster-controller.ts';
import { refuseForeignCrds } from './foreign-crds.ts';
import { createGateway } from './gateway.ts';
import { startHttpServer } from './http-server.ts';
import { setLeaderLabel } from './leader-label.ts';
import { createLogger, type Logger } from './log.ts';
import { createMetrics } from './metrics.ts';
import { keepCredentialsFresh } from './operator-credentials.ts';
import { type OperatorOptions, parseOptions } from './options.ts';
import { ReportBook } from './report-book.ts';
import { Sessions } from './sessions.ts';
import { createSnapshotRecorder, noRecorder } from './snapshot-recorder.ts';

const LEASE = 'valkey-operator';

async function run(options: OperatorOptions, log: Logger): Promise<void> {
  const { namespace, podName, trustDomain, version } = options;
  const ended = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => ended.abort());

  const metrics = createMetrics();
  const transport = createHttpTransport(await loadAccess());
  const client = new KubeClient({ transport, onCall: metrics.countCall });
  const onError = (error: unknown) => log.warn({ error: String(error) }, 'api server trouble');
  await refuseForeignCrds(client);

  const caches = createCaches({ client, namespaces: options.watchNamespaces, onError });
  const running = Object.values(caches).map((cache) => cache.run(ended.signal));
  const synced = Promise.all(Object.values(caches).map((cache) => cache.whenSynced()));
  const election = new LeaderElection({
    client,
    namespace,
    name: LEASE,
    identity: `${podName}_${randomUUID()}`,
    onError,
  });

  let ready = false;
  await startHttpServer({
    port: options.httpPort,
    registry: metrics.registry,
    whyNotReady: () => (ready ? undefined : 'the first look at all resources is not complete'),
  });
  const authorities = await Authorities.load({ client, namespace, trustDomain });
  const credentials = new CredentialHolder(await authorities.issueOperatorCredentials());
  keepCredentialsFresh(credentials, authorities, log, ended.signal);
  const onRefused = recordRefusals({
    log: ({ reason, message, peer }) => log.warn({ reason, peer: peer.address, error: message }, 'peer refused'),
    count: (reason) => metrics.refusals.inc({ reason }),
  });

  const reports = new ReportBook();
  let controller: ClusterController | undefined;
  const gateway = createGateway({
    client,
    credentials,
    trustDomain,
    version,
    metrics,
    onRefused,
    leadership: () => election.leadership,
    onReport: (report) => {
      const { namespace: podNamespace = '', cluster = '' } = report.pod ?? {};
      if (reports.receive(report)) controller?.wake({ namespace: podNamespace, name: cluster });
    },
  });
  await gateway.listen(options.gatewayPort);
  await synced;
  ready = true;
  log.info({ version, namespace }, 'operator started');

  await election.run(ended.signal, async (leadership: Leadership) => {
    log.info({ epoch: leadership.epoch }, 'leading');
    metrics.leader.set(1);
    await setLeaderLabel(client, namespace, podName, true).catch(onError);
    const wake = ({ namespace: at, cluster }: { namespace: string; cluster: string }) =>
      controller?.wake({ namespace: at, name: cluster });
    const sessions = new Sessions({
      credentials,
      trustDomain,
      leaderEpoch: BigInt(leadership.epoch),
      operatorVersion: version,
      onRefused,
      log,
      onChange: wake,
      onReport: (report, sidecar) => {
        if (reports.receive(report)) wake(sidecar);
      },
    });
    const events = new EventRecorder({ client, instance: podName });
    controller = new ClusterController({
      client,
      caches,
      reports,
      sessions,
      authorities,
      leadership,
      metrics,
      events,
      log,
      operator: { version, namespace, trustDomain, sidecarImage: '' },
      recorder: options.recordDir ? createSnapshotRecorder(options.recordDir) : noRecorder,
      now: Date.now,
    });
    await controller.run();
    controller = undefined;
    sessions.close();
    await events.close();
    metrics.leader.set(0);
    await setLeaderLabel(client, namespace, podName, false).catch(onError);
    log.info({ epoch: leadership.epoch }, 'not leading any more');
  });
  await gateway.close();
  ended.abort();
  await Promise.all(running);
}

const options = parseOptions(process.argv.slice(2), process.env);
if ('print' in options) {
  console.log(options.print);
} else {
  const log = createLogger(options.run.logLevel);
  try {
    await run(options.run, log);
    process.exit(0);
  } catch (error) {
    log.fatal({ error: String(error) }, 'operator stopped');
    process.exit(1);
  }
}
