import { setImmediate } from 'node:timers/promises';
import type { ValkeyCluster } from '@valkey-operator/api';
import { asksForTheSame, type Foresee, foreseeInSteps } from '@valkey-operator/core';
import { keyOf, type ObjectRef } from '@valkey-operator/kube';
import type { Logger } from '../log.ts';

type StatusPlan = NonNullable<NonNullable<ValkeyCluster['status']>['plan']>;

interface Foresight {
  readonly basis: string;
  readonly cluster: ObjectRef;
  /** As long as there is something left to work out. */
  steps: ReturnType<typeof foreseeInSteps> | undefined;
  /** The last that is known. */
  plan: StatusPlan | undefined;
}

interface ForesightContext {
  /** It is known now what would become of this cluster. */
  onForeseen: (cluster: ObjectRef) => void;
  log: Pick<Logger, 'error'>;
  begin?: typeof foreseeInSteps;
}

/**
 * What would become of clusters that wait, worked out beside the looks at them. A forecast takes seconds where there are many
 * pods, so all of them together have one step in a turn of the event loop: neither the lease nor another cluster waits for
 * them. They may be lost with the process, for they can be made again.
 */
export class ForesightBook {
  readonly #context: ForesightContext;
  readonly #clusters = new Map<string, Foresight>();
  #isWorking = false;

  constructor(context: ForesightContext) {
    this.#context = context;
  }

  /** What would become of a cluster that looks like this; nothing until that is known. */
  readonly foresee: Foresee = (snapshot, basis) => {
    const { cluster } = snapshot;
    const known = this.#clusters.get(keyOf(cluster));
    const before = known && asksForTheSame(known.basis, basis) ? known : undefined;
    // Where clients write, how things stand may change more often than one can be worked out: it comes to its end.
    if (before?.steps || before?.basis === basis) return before.plan;
    const { begin = foreseeInSteps } = this.#context;
    const { plan } = before ?? {};
    this.#clusters.set(keyOf(cluster), { basis, cluster: cluster.metadata, steps: begin(snapshot), plan });
    if (!this.#isWorking) void this.#work();
    return plan;
  };

  forget(cluster: string): void {
    this.#clusters.delete(cluster);
  }

  /** What is not known yet need not be known any more. */
  close(): void {
    this.#clusters.clear();
  }

  async #work(): Promise<void> {
    this.#isWorking = true;
    await setImmediate();
    for (let next = this.#findOpen(); next; next = this.#findOpen()) {
      this.#advance(next);
      await setImmediate();
    }
    this.#isWorking = false;
  }

  #findOpen(): Foresight | undefined {
    return [...this.#clusters.values()].find(({ steps }) => steps !== undefined);
  }

  #advance(foresight: Foresight): void {
    const { onForeseen, log } = this.#context;
    try {
      const step = foresight.steps?.next();
      if (!step?.done) return;
      foresight.plan = step.value;
    } catch (error) {
      // A plan that nobody sees is better than a cluster that nobody looks after.
      log.error({ cluster: foresight.cluster.name, err: error }, 'forecast failed');
    }
    foresight.steps = undefined;
    onForeseen(foresight.cluster);
  }
}
