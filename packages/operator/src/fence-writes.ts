import type { Leadership, Transport } from '@valkey-operator/kube';

/**
 * A transport that reads always, and writes only while the term is valid. Asked at the last moment before each request:
 * a process that was frozen past its lease finds out here, whatever it was about to do (faults.md 21).
 */
export function fenceWrites(transport: Transport, leadership: Leadership): Transport {
  return async (request) => {
    if (request.method !== 'GET' && !leadership.isValid()) throw new Error('this process does not lead any more');
    return transport(request);
  };
}
