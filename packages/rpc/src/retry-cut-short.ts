import { ConnectError, type Interceptor } from '@connectrpc/connect';

const MAX_TRIES = 3;

/**
 * Node 24.20 and later take an answer that arrived as a whole before it is read for one that was cut short
 * (nodejs/node#65677); the busier the machine, the more often. Every unary call of our contracts may be carried out twice,
 * so it is made again.
 */
export const retryCutShort: Interceptor = (next) => async (request) => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await next(request);
    } catch (error) {
      if (request.stream || tries === MAX_TRIES || !isCutShort(error)) throw error;
    }
  }
};

function isCutShort(error: unknown): boolean {
  const cause = error instanceof ConnectError ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && cause.code === 'ERR_STREAM_PREMATURE_CLOSE';
}
