/** How often the operator has asked the API server for what, as it tells Prometheus. */
export type ApiCalls = ReadonlyMap<
  string,
  { readonly verb: string; readonly resource: string; readonly count: number }
>;

export type CallKind = 'lease' | 'watch' | 'review' | 'read' | 'write';

const LINE = /^valkey_operator_api_calls_total\{verb="([^"]*)",resource="([^"]*)",code="[^"]*"\} (\d+)$/gm;
const READS = ['get', 'list'];

export async function readApiCalls(operatorIp: string): Promise<ApiCalls> {
  const response = await fetch(`http://${operatorIp}:8080/metrics`);
  return parseApiCalls(await response.text());
}

export function parseApiCalls(metrics: string): ApiCalls {
  const calls = new Map<string, { verb: string; resource: string; count: number }>();
  for (const [, verb = '', resource = '', count] of metrics.matchAll(LINE)) {
    const name = `${verb} ${resource}`;
    calls.set(name, { verb, resource, count: Number(count) + (calls.get(name)?.count ?? 0) });
  }
  return calls;
}

/** What came in between, by kind. Reviews are asked for by POST, but nothing is stored. */
export function countBetween(before: ApiCalls, after: ApiCalls): Record<CallKind, number> {
  const counts = { lease: 0, watch: 0, review: 0, read: 0, write: 0 };
  for (const [name, { verb, resource, count }] of after)
    counts[kindOf(verb, resource)] += count - (before.get(name)?.count ?? 0);
  return counts;
}

function kindOf(verb: string, resource: string): CallKind {
  if (resource === 'leases') return 'lease';
  if (resource.endsWith('reviews')) return 'review';
  if (verb === 'watch') return 'watch';
  return READS.includes(verb) ? 'read' : 'write';
}
