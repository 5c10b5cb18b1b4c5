import { createHash } from 'node:crypto';

/** The pod a token was issued to, as TokenReview tells. */
export interface TokenOwner {
  readonly namespace: string;
  readonly serviceAccount: string;
  readonly podName: string;
  readonly podUid: string;
}

export interface TokenCacheOptions {
  /** Asks the API server; `undefined` when the token is not valid or not bound to a pod. Rejects when it cannot be asked. */
  readonly review: (token: string) => Promise<TokenOwner | undefined>;
  readonly now?: () => number;
}

interface Entry {
  readonly owner: Promise<TokenOwner | undefined>;
  expiresAt: number;
}

const TTL_MS = 10 * 60_000;
// A token that was refused may be asked about again soon, but not at each try of whoever holds it.
const REFUSED_TTL_MS = 30_000;
const MAX_ENTRIES = 10_000;

/** Remembers what TokenReview said of a token, for heartbeats come each minute and with the same one. */
export class TokenCache {
  readonly #review: TokenCacheOptions['review'];
  readonly #now: () => number;
  /** By the hash of the token, so that no token can be read from here; least recently used first. */
  readonly #entries = new Map<string, Entry>();

  constructor({ review, now = Date.now }: TokenCacheOptions) {
    this.#review = review;
    this.#now = now;
  }

  verify(token: string): Promise<TokenOwner | undefined> {
    const key = createHash('sha256').update(token).digest('base64');
    const known = this.#entries.get(key);
    this.#entries.delete(key);
    const entry = known && known.expiresAt > this.#now() ? known : this.#ask(token, key);
    this.#entries.set(key, entry);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > MAX_ENTRIES && oldest !== undefined) this.#entries.delete(oldest);
    return entry.owner;
  }

  /** Calls with the same token that come meanwhile wait for the same answer. */
  #ask(token: string, key: string): Entry {
    const entry: Entry = { owner: this.#review(token), expiresAt: Infinity };
    entry.owner.then(
      (owner) => {
        entry.expiresAt = Math.min(this.#now() + (owner ? TTL_MS : REFUSED_TTL_MS), readExpiry(token));
      },
      () => {
        if (this.#entries.get(key) === entry) this.#entries.delete(key);
      },
    );
    return entry;
  }
}

/** The `exp` of a JWT in milliseconds. The API server has verified the very same bytes. */
function readExpiry(token: string): number {
  try {
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
    const hasExpiry =
      typeof claims === 'object' && claims !== null && 'exp' in claims && typeof claims.exp === 'number';
    return hasExpiry ? Number(claims.exp) * 1000 : Infinity;
  } catch {
    return Infinity;
  }
}
