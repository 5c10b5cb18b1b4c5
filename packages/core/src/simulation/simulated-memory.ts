import type { SlotSet } from '@valkey-operator/valkey';
import type { NodeView } from '../snapshot.ts';

type Memory = Omit<NonNullable<NodeView['memory']>, 'keys'>;

/** What nodes hold and may hold. By ordinal: who is made anew gets it all back, from its volume or from its primary. */
export class SimulatedMemory {
  readonly #usual: Memory;
  readonly #known = new Map<number, Memory>();
  /** Slots that have more keys, or fewer, than the one that is usual where there are some. */
  readonly #crowds: { readonly slots: SlotSet; readonly keysPerSlot: number }[] = [];
  /** What is counted at every look hardly ever changes. */
  #counts = new WeakMap<SlotSet, number>();

  constructor(usual: Memory) {
    this.#usual = usual;
  }

  note(ordinal: number, memory: Memory): void {
    this.#known.set(ordinal, memory);
  }

  limit(ordinal: number, maxBytes: number): void {
    this.#known.set(ordinal, { ...this.#of(ordinal), maxBytes });
  }

  crowd(slots: SlotSet, keysPerSlot: number): void {
    this.#crowds.push({ slots, keysPerSlot });
    this.#counts = new WeakMap();
  }

  view(ordinal: number, data: SlotSet): NonNullable<NodeView['memory']> {
    return { ...this.#of(ordinal), keys: this.countKeys(data) };
  }

  countKeys(data: SlotSet): number {
    const known = this.#counts.get(data);
    if (known !== undefined) return known;
    let usual = data;
    let keys = 0;
    for (const { slots, keysPerSlot } of this.#crowds) {
      keys += keysPerSlot * usual.intersection(slots).count;
      usual = usual.difference(slots);
    }
    // Where there is something, there is at least a key.
    const count = data.isEmpty ? 0 : Math.max(1, Math.round(keys + usual.count));
    this.#counts.set(data, count);
    return count;
  }

  #of(ordinal: number): Memory {
    return this.#known.get(ordinal) ?? this.#usual;
  }
}
