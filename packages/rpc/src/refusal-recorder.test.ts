import { expect, it, vi } from 'vitest';

import type { PeerRefusal } from './peer.ts';
import { recordRefusals } from './refusal-recorder.ts';

const refusalFrom = (address: string): PeerRefusal => ({ reason: 'NoCertificate', peer: { address }, message: 'none' });

function recorder() {
  const clock = { now: 0 };
  const log = vi.fn<(refusal: PeerRefusal) => void>();
  const count = vi.fn<(reason: string) => void>();
  return { clock, log, count, record: recordRefusals({ log, count, now: () => clock.now }) };
}

it('counts every refusal and logs it once per peer, reason and hour', () => {
  const { clock, log, count, record } = recorder();
  for (let n = 0; n < 5; n++) record(refusalFrom('10.0.0.1'));
  record(refusalFrom('10.0.0.2'));
  record({ ...refusalFrom('10.0.0.1'), reason: 'WrongIdentity' });
  expect(count).toHaveBeenCalledTimes(7);
  expect(log).toHaveBeenCalledTimes(3);
  clock.now = 3_600_000;
  record(refusalFrom('10.0.0.1'));
  expect(log).toHaveBeenCalledTimes(4);
});

it('remembers a bounded number of peers', () => {
  const { log, record } = recorder();
  for (let n = 0; n <= 1000; n++) record(refusalFrom(`peer-${n}`));
  log.mockClear();
  record(refusalFrom('peer-1000'));
  expect(log).not.toHaveBeenCalled();
  record(refusalFrom('peer-0'));
  expect(log).toHaveBeenCalledOnce();
});
