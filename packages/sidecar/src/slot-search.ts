import { expectInteger, SlotSet } from '@valkey-operator/valkey';
import type { Node } from './commands/effect.ts';

/** Keys may come and go, so what was found is soon no news. */
const NEWS_MS = 10_000;

export interface Findings {
  readonly slots: SlotSet;
  readonly withKeys: SlotSet;
}

/** Remembers for a moment in which slots there are keys, whoever owns them: Valkey tells that for each slot alone. */
export class SlotSearch {
  #last: (Findings & { readonly at: number }) | undefined;

  get findings(): Findings | undefined {
    return this.#last && Date.now() - this.#last.at < NEWS_MS ? this.#last : undefined;
  }

  async run(node: Pick<Node, 'call'>, slots: SlotSet): Promise<void> {
    const at = Date.now();
    const counts = await Promise.all(
      Array.from(slots, async (slot) => [slot, await node.call('CLUSTER', 'COUNTKEYSINSLOT', String(slot))] as const),
    );
    const withKeys = SlotSet.ofSlots(counts.filter(([, count]) => expectInteger(count) > 0).map(([slot]) => slot));
    this.#last = { slots, withKeys, at };
  }
}
