import { annotations } from '@valkey-operator/api';
import type { ChildObject, RefusalView } from '../snapshot.ts';

/** What the API server does not take, and what the operator remembers of that. */
export class SimulatedRefusals {
  /** What it says to an object that it does not take. */
  judge: (object: ChildObject) => string | undefined = () => undefined;
  readonly #refused = new Map<string, RefusalView>();

  get views(): RefusalView[] {
    return [...this.#refused.values()];
  }

  /** Whether it is taken. */
  take(object: ChildObject, now: number): boolean {
    const { kind, metadata } = object;
    const child = `${kind} ${metadata.name}`;
    const message = this.judge(object);
    const wish = metadata.annotations?.[annotations.applied] ?? '';
    if (message === undefined) this.#refused.delete(child);
    else this.#refused.set(child, { child, wish, message, lastAt: now });
    return message === undefined;
  }
}
