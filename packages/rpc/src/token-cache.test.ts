import { describe, expect, it, vi } from 'vitest';

import { TokenCache, type TokenOwner } from './token-cache.ts';

const owner: TokenOwner = { namespace: 'ns', serviceAccount: 'vc', podName: 'vc-0', podUid: 'uid-0' };
const MINUTE = 60_000;

function cacheOf(review: (token: string) => Promise<TokenOwner | undefined>) {
  const reviewed = vi.fn(review);
  const clock = { now: 0 };
  return { cache: new TokenCache({ review: reviewed, now: () => clock.now }), reviewed, clock };
}

describe('the token cache', () => {
  it('asks once for calls that come together, and again after ten minutes', async () => {
    const { cache, reviewed, clock } = cacheOf(async () => owner);
    expect(await Promise.all([cache.verify('t'), cache.verify('t')])).toEqual([owner, owner]);
    clock.now = 10 * MINUTE - 1;
    await cache.verify('t');
    expect(reviewed).toHaveBeenCalledTimes(1);
    clock.now = 10 * MINUTE;
    await cache.verify('t');
    expect(reviewed).toHaveBeenCalledTimes(2);
  });

  it('remembers a refusal for a shorter time', async () => {
    const { cache, reviewed, clock } = cacheOf(async () => undefined);
    expect(await cache.verify('t')).toBeUndefined();
    clock.now = 29_000;
    await cache.verify('t');
    expect(reviewed).toHaveBeenCalledTimes(1);
    clock.now = 30_000;
    await cache.verify('t');
    expect(reviewed).toHaveBeenCalledTimes(2);
  });

  it('does not trust a token beyond its own end', async () => {
    const claims = Buffer.from(JSON.stringify({ exp: 60 })).toString('base64url');
    const { cache, reviewed, clock } = cacheOf(async () => owner);
    await cache.verify(`h.${claims}.s`);
    clock.now = MINUTE;
    await cache.verify(`h.${claims}.s`);
    expect(reviewed).toHaveBeenCalledTimes(2);
  });

  it('does not remember that the API server could not be asked', async () => {
    const { cache, reviewed } = cacheOf(async () => owner);
    reviewed.mockRejectedValueOnce(new Error('down'));
    await expect(cache.verify('t')).rejects.toThrow('down');
    expect(await cache.verify('t')).toEqual(owner);
  });

  it('is bounded, and forgets what was not used for longest', async () => {
    const { cache, reviewed } = cacheOf(async () => owner);
    for (let n = 0; n < 10_000; n++) await cache.verify(`t${n}`);
    await cache.verify('t0');
    await cache.verify('new');
    reviewed.mockClear();
    await cache.verify('t0');
    expect(reviewed).not.toHaveBeenCalled();
    await cache.verify('t1');
    expect(reviewed).toHaveBeenCalledOnce();
  });
});
