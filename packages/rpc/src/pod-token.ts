import { readFile } from 'node:fs/promises';

import type { Interceptor } from '@connectrpc/connect';

const SCHEME = 'Bearer ';

/** Sends the pod's projected token with each call. It is read each time: the kubelet replaces it when it grows old. */
export function attachPodToken(tokenFile: string): Interceptor {
  return (next) => async (request) => {
    request.header.set('authorization', SCHEME + (await readFile(tokenFile, 'utf8')).trim());
    return next(request);
  };
}

export function readPodToken(header: Headers): string | undefined {
  const value = header.get('authorization');
  return value?.startsWith(SCHEME) ? value.slice(SCHEME.length) : undefined;
}
