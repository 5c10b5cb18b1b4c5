import { readCertificate } from '@valkey-operator/pki/verify';
import { CredentialHolder } from '@valkey-operator/rpc/operator';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { quietLog } from '../testing/builders.ts';
import { Certificates } from '../testing/certificates.ts';
import { keepCredentialsFresh } from './operator-credentials.ts';

const MINUTE = 60_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }));
afterEach(() => void vi.useRealTimers());

async function keep(issue: (certificates: Certificates) => ReturnType<Certificates['operator']>) {
  const certificates = await Certificates.create();
  const holder = new CredentialHolder(await certificates.operator());
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  keepCredentialsFresh(holder, { issueOperatorCredentials: () => issue(certificates) }, quietLog, stop.signal);
  return { thumbprint: () => readCertificate(holder.current().certificate).thumbprint, stop };
}

test('the operator replaces its certificate between two thirds and four fifths of its life, again and again', async () => {
  const { thumbprint } = await keep((certificates) => certificates.operator());
  const first = thumbprint();
  await vi.advanceTimersByTimeAsync(38 * MINUTE);
  expect(thumbprint()).toBe(first);
  await vi.advanceTimersByTimeAsync(11 * MINUTE);
  await vi.waitFor(() => expect(thumbprint()).not.toBe(first), { timeout: 20_000 });
  const second = thumbprint();
  await vi.advanceTimersByTimeAsync(50 * MINUTE);
  await vi.waitFor(() => expect(thumbprint()).not.toBe(second), { timeout: 20_000 });
});

test('a renewal that failed is tried again soon, and the old certificate stays meanwhile', async () => {
  let tries = 0;
  const { thumbprint } = await keep(async (certificates) => {
    tries += 1;
    if (tries < 3) throw new Error('no luck');
    return certificates.operator();
  });
  const first = thumbprint();
  await vi.advanceTimersByTimeAsync(50 * MINUTE);
  await vi.waitFor(() => expect(tries).toBeGreaterThanOrEqual(3), { timeout: 20_000 });
  await vi.waitFor(() => expect(thumbprint()).not.toBe(first), { timeout: 20_000 });
});

test('nothing is renewed once the process ends', async () => {
  let tries = 0;
  const { stop } = await keep((certificates) => {
    tries += 1;
    return certificates.operator();
  });
  stop.abort();
  await vi.advanceTimersByTimeAsync(90 * MINUTE);
  expect(tries).toBe(0);
});
