import type { Random } from './backoff.ts';
import type { KubeClient } from './client.ts';
import { type Clock, sleep, systemClock } from './clock.ts';
import { isKubeError } from './error.ts';
import { type Leadership, Term } from './leadership.ts';
import { formatMicroTime } from './micro-time.ts';
import type { Live } from './object.ts';
import { type Lease, leases } from './resources.ts';

export interface LeaseTimes {
  /** How long others wait after the last renewal they saw. */
  durationMs: number;
  /** How long the holder trusts its last renewal. Shorter than the duration, so that it stops before another starts. */
  deadlineMs: number;
  /** Between renewals of the holder and looks of the others. */
  periodMs: number;
}

export interface LeaderElectionOptions {
  client: KubeClient;
  namespace: string;
  name: string;
  /** Unique per process, not per pod: a restarted container is another candidate. */
  identity: string;
  /** Whether a holder is a former run of this very candidate that has certainly ended; it is not waited for. */
  isPredecessor?: (identity: string) => boolean;
  times?: LeaseTimes;
  /** Failed requests; the election goes on. */
  onError?: (error: unknown) => void;
  clock?: Clock;
  random?: Random;
}

const TIMES: LeaseTimes = { durationMs: 15_000, deadlineMs: 10_000, periodMs: 2_500 };

/**
 * A lease that someone deleted must not start again at a low epoch, which every sidecar would refuse. So a new one starts at
 * the seconds since 2026, beyond any earlier term as long as terms change less than once a second.
 */
const EPOCH_ORIGIN = Date.UTC(2026, 0, 1);
/** Clocks of two candidates may differ by this many seconds. */
const EPOCH_SLACK = 3600;

/**
 * Elects one leader with a coordination.k8s.io Lease. No clocks are compared: each candidate measures on its own how long
 * the record it sees has not changed.
 */
export class LeaderElection {
  readonly #options: Required<LeaderElectionOptions>;
  #term: Term | undefined;
  #seen = { record: '', at: 0 };
  #floor = 0;

  constructor(options: LeaderElectionOptions) {
    const defaults = { times: TIMES, onError: () => {}, clock: systemClock, random: Math.random };
    this.#options = { ...defaults, isPredecessor: () => false, ...options };
  }

  /** The term that is valid at this moment, if any. */
  get leadership(): Leadership | undefined {
    return this.#term?.isValid() ? this.#term : undefined;
  }

  /**
   * Somebody has seen this epoch, so a term at or below it is of no use: it ends, and the next begins above. Needed when the
   * lease was set back, as by a restored etcd; if another really leads, its lease keeps this candidate waiting. False for an
   * epoch that no lease can have reached: who says so is mistaken or lies.
   */
  surpass(epoch: number): boolean {
    if (epoch > secondsSinceOrigin(this.#options.clock.now()) + EPOCH_SLACK) return false;
    this.#floor = Math.max(this.#floor, epoch);
    if (this.#term && this.#term.epoch <= epoch) this.#term.lose();
    return true;
  }

  /**
   * Leads whenever it can, until the signal aborts or `lead` ends by itself; then gives the lease back, so that the next
   * leader need not wait. `lead` must end soon after its signal aborts; only then is another term tried.
   */
  async run(signal: AbortSignal, lead: (leadership: Leadership) => Promise<void>): Promise<void> {
    const { clock, random, times, onError } = this.#options;
    while (!signal.aborted) {
      const term = await this.#take(signal).catch((error: unknown) => {
        if (!signal.aborted) onError(error);
      });
      if (!term) await sleep(clock, times.periodMs * (0.8 + 0.4 * random()), signal);
      else if ((await this.#serve(term, signal, lead)) === 'finished') return;
    }
  }

  /** Looks at the lease and takes it if it is free; undefined: it is not, or another was faster. */
  async #take(signal: AbortSignal): Promise<Term | undefined> {
    const { client, namespace, name, clock, times } = this.#options;
    const call = { signal, timeoutMs: this.#requestMs };
    const startedAt = clock.monotonic();
    const lease = await client.get(leases, { namespace, name }, call);
    if (lease && !this.#isFree(lease)) return undefined;
    const epoch = Math.max(nextEpoch(lease, clock.now()), this.#floor + 1);
    const metadata = { namespace, name, resourceVersion: lease?.metadata.resourceVersion };
    const spec = { ...this.#renewal(), acquireTime: formatMicroTime(clock.now()), leaseTransitions: epoch };
    try {
      const taken = lease
        ? await client.mergePatch(leases, { namespace, name }, { metadata, spec }, call)
        : await client.create(leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec }, call);
      const term = new Term(epoch, times.deadlineMs, clock);
      term.renew(startedAt, taken.metadata.resourceVersion);
      return term;
    } catch (error) {
      if (isKubeError(error, 'Conflict', 'AlreadyExists', 'NotFound')) return undefined;
      throw error;
    }
  }

  #isFree(lease: Live<Lease>): boolean {
    const { identity, isPredecessor, clock, times } = this.#options;
    const { holderIdentity, renewTime, leaseTransitions, leaseDurationSeconds } = lease.spec ?? {};
    const record = `${holderIdentity} ${renewTime} ${leaseTransitions}`;
    if (record !== this.#seen.record) this.#seen = { record, at: clock.monotonic() };
    // Its own name in it: a term of this process that it lost, or whose first answer never came.
    if (!holderIdentity || holderIdentity === identity || isPredecessor(holderIdentity)) return true;
    const durationMs = leaseDurationSeconds ? leaseDurationSeconds * 1000 : times.durationMs;
    return clock.monotonic() >= this.#seen.at + durationMs;
  }

  async #serve(
    term: Term,
    signal: AbortSignal,
    lead: (leadership: Leadership) => Promise<void>,
  ): Promise<'lost' | 'finished'> {
    const idle = new AbortController();
    const stop = (): void => term.stop();
    signal.addEventListener('abort', stop);
    if (signal.aborted) stop();
    this.#term = term;
    const renewing = this.#keepRenewing(term, idle.signal);
    let isLost = false;
    try {
      await lead(term);
    } finally {
      idle.abort();
      await renewing;
      signal.removeEventListener('abort', stop);
      this.#term = undefined;
      isLost = term.isLost;
      if (!isLost) await this.#release(term);
    }
    return isLost && !signal.aborted ? 'lost' : 'finished';
  }

  /** Also while work under way comes to its end: nobody else may start before it has. */
  async #keepRenewing(term: Term, idle: AbortSignal): Promise<void> {
    const { clock, times } = this.#options;
    while (!idle.aborted && !term.isLost) {
      await sleep(clock, times.periodMs, idle);
      if (idle.aborted) return;
      if (term.isValid()) await this.#renew(term);
      else term.lose();
    }
  }

  async #renew(term: Term): Promise<void> {
    const { client, namespace, name, identity, clock, onError } = this.#options;
    const call = { timeoutMs: this.#requestMs };
    const startedAt = clock.monotonic();
    try {
      const patch = { metadata: { resourceVersion: term.resourceVersion }, spec: this.#renewal() };
      const renewed = await client.mergePatch(leases, { namespace, name }, patch, call);
      term.renew(startedAt, renewed.metadata.resourceVersion);
    } catch (error) {
      onError(error);
      if (!isKubeError(error, 'Conflict', 'NotFound')) return;
      // Either it is another's now, or somebody labelled it, or an earlier renewal arrived though its answer did not.
      const lease = await client.get(leases, { namespace, name }, call).catch(onError);
      if (lease?.spec?.holderIdentity === identity && lease.spec.leaseTransitions === term.epoch) {
        term.resourceVersion = lease.metadata.resourceVersion;
        if (term.isValid()) await this.#renew(term);
      } else if (lease || isKubeError(error, 'NotFound')) {
        term.lose();
      }
    }
  }

  async #release(term: Term): Promise<void> {
    const { client, namespace, name, clock, onError } = this.#options;
    const renewTime = formatMicroTime(clock.now());
    const spec = { holderIdentity: null, leaseDurationSeconds: 1, renewTime };
    const patch = { metadata: { resourceVersion: term.resourceVersion }, spec };
    term.lose();
    await client.mergePatch(leases, { namespace, name }, patch, { timeoutMs: this.#requestMs }).catch(onError);
  }

  #renewal(): { holderIdentity: string; leaseDurationSeconds: number; renewTime: string } {
    const { identity, times, clock } = this.#options;
    const leaseDurationSeconds = Math.ceil(times.durationMs / 1000);
    return { holderIdentity: identity, leaseDurationSeconds, renewTime: formatMicroTime(clock.now()) };
  }

  /** Three tries fit into the deadline. */
  get #requestMs(): number {
    return this.#options.times.deadlineMs / 3;
  }
}

function nextEpoch(lease: Live<Lease> | undefined, now: number): number {
  const last = lease?.spec?.leaseTransitions;
  return last === undefined ? Math.max(1, secondsSinceOrigin(now)) : last + 1;
}

function secondsSinceOrigin(now: number): number {
  return Math.floor((now - EPOCH_ORIGIN) / 1000);
}
