import { type Caches, listCaches } from './caches.ts';
import { readFacts } from './certificates/certificate-view.ts';
import type { Term } from './lead.ts';
import type { Metrics } from './metrics.ts';

/** What is looked up when Prometheus asks, instead of being counted all the time. */
export function watchState({ watch }: Metrics, caches: Caches, term: () => Term | undefined): void {
  const single = (value: number | undefined) => [{ labels: {}, value: value ?? 0 }];
  watch('valkey_operator_clusters', 'ValkeyClusters known.', [], () => single(caches.clusters.size));
  watch('valkey_operator_queue_depth', 'Clusters that wait for a worker.', [], () => single(term()?.controller.depth));
  watch('valkey_operator_sessions', 'Sessions to sidecars, held or being opened.', [], () =>
    single(term()?.sessions.size),
  );
  watch('valkey_operator_watch_age_seconds', 'Time since the API server said anything.', ['resource'], () =>
    listCaches(caches).map(([resource, cache]) => ({ labels: { resource }, value: cache.lastEventAge() / 1000 })),
  );
  const expiry = 'valkey_operator_certificate_expiry_timestamp_seconds';
  watch(expiry, 'When a certificate ends.', ['namespace', 'secret'], () =>
    caches.secrets.list().flatMap((secret) => {
      const { namespace = '', name } = secret.metadata;
      const ends = readFacts(secret)?.notAfter.getTime();
      return ends === undefined ? [] : [{ labels: { namespace, secret: name }, value: ends / 1000 }];
    }),
  );
}
