import type { PointLine } from './crash-operator.ts';

/**
 * What is left to hit of an operation: every occurrence of every point that an undisturbed run has passed, from both sides.
 * One run is hit many times, as it comes along; who has ended before a point passes it before it ends there again.
 */
export class CrashTargets {
  readonly #left = new Map<string, number>();
  readonly #passing = new Set<string>();
  #hits = 0;

  /** Of a kind of operation: what else was done meanwhile was not its. */
  constructor(kind: string, passed: readonly string[]) {
    const own = passed.filter((point) => point.startsWith(`${kind}/`));
    for (const point of [...own, `${kind}/WriteStatus`]) {
      for (const moment of ['before', 'after']) {
        const target = `${point}/${moment}`;
        this.#left.set(target, (this.#left.get(target) ?? 0) + 1);
      }
    }
  }

  get hits(): number {
    return this.#hits;
  }

  get total(): number {
    return [...this.#left.values()].reduce((sum, count) => sum + count, this.#hits);
  }

  /** As the annotation has them. */
  get text(): string {
    return [...this.#left.keys()].filter((target) => !this.#passing.has(target)).join(';');
  }

  /** With how often each, for people. */
  get missed(): string[] {
    return Array.from(this.#left, ([target, count]) => `${target} (${count})`);
  }

  /** Keeps as many as this, chosen by chance. */
  keep(count: number, random: () => number): void {
    const all = Array.from(this.#left, ([target, times]) => Array.from({ length: times }, () => target)).flat();
    while (all.length > count) all.splice(Math.floor(random() * all.length), 1);
    this.#left.clear();
    for (const target of all) this.#left.set(target, (this.#left.get(target) ?? 0) + 1);
  }

  note({ event, point, moment }: PointLine): void {
    if (event === 'done' || moment === 'after') this.#passing.delete(`${point}/before`);
    const target = `${point}/${moment}`;
    const left = this.#left.get(target) ?? 0;
    if (event === 'done' || left === 0 || this.#passing.has(target)) return;
    if (moment === 'before') this.#passing.add(target);
    this.#hits += 1;
    if (left > 1) this.#left.set(target, left - 1);
    else this.#left.delete(target);
  }
}
