import { Code, ConnectError, type StreamRequest, type UnaryRequest, type UnaryResponse } from '@connectrpc/connect';
import { expect, test, vi } from 'vitest';
import { retryCutShort } from './retry-cut-short.ts';

const cause = Object.assign(new Error('Premature close'), { code: 'ERR_STREAM_PREMATURE_CLOSE' });
const cutShort = new ConnectError(cause.message, Code.Unknown, undefined, undefined, cause);
const unary = { stream: false } as UnaryRequest;
const answer = { stream: false } as UnaryResponse;

test('a unary call whose answer is said to be cut short is made again', async () => {
  const next = vi.fn().mockRejectedValueOnce(cutShort).mockResolvedValue(answer);
  expect(await retryCutShort(next)(unary)).toBe(answer);
  expect(next).toHaveBeenCalledTimes(2);
});

test('it is not made for ever', async () => {
  const next = vi.fn().mockRejectedValue(cutShort);
  await expect(retryCutShort(next)(unary)).rejects.toBe(cutShort);
  expect(next).toHaveBeenCalledTimes(3);
});

test('other failures are told at once, and so is a stream that ends early', async () => {
  const refused = new ConnectError('no', Code.PermissionDenied);
  const next = vi.fn().mockRejectedValueOnce(refused).mockRejectedValueOnce(cutShort);
  await expect(retryCutShort(next)(unary)).rejects.toBe(refused);
  await expect(retryCutShort(next)({ stream: true } as StreamRequest)).rejects.toBe(cutShort);
  expect(next).toHaveBeenCalledTimes(2);
});
