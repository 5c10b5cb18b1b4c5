import type { CrashOperation } from './crash-operations.ts';
import type { PointLine } from './crash-operator.ts';

/**
 * What is left to hit of an operation: every occurrence of every point that an undisturbed run has passed, from both sides; but
 * each status once, because how often progress is written depends on how long things take.
 * One run is hit many times, as it comes along; who has ended before a point passes it before it ends there again.
 */
export class CrashTargets {
  readonly #left = new Map<string, number>();
  readonly #passing = new Set<string>();
  readonly #isOwn: (point: string) => boolean;
  #planned: ReadonlyMap<string, number>;
  #hits = 0;
  #wanted = Infinity;

  /** Of a kind of operation: what else was done meanwhile was not its. */
  constructor({ kind, also = [] }: Pick<CrashOperation, 'kind' | 'also'>, passed: readonly string[]) {
    this.#isOwn = (point) => point.startsWith(`${kind}/`) || also.includes(point);
    for (const point of this.#listOwn(passed)) {
      for (const moment of ['before', 'after']) {
        const target = `${point}/${moment}`;
        this.#left.set(target, (this.#left.get(target) ?? 0) + 1);
      }
    }
    this.#planned = new Map(this.#left);
  }

  get hits(): number {
    return this.#hits;
  }

  get total(): number {
    const all = [...this.#left.values()].reduce((sum, count) => sum + count, this.#hits);
    return Math.min(all, this.#wanted);
  }

  get isDone(): boolean {
    return this.#hits >= this.total;
  }

  /** As the annotation has them. */
  get text(): string {
    if (this.isDone) return '';
    return [...this.#left.keys()].filter((target) => !this.#passing.has(target)).join(';');
  }

  /**
   * What was not hit and is not passed by other undisturbed runs either, is given up: it was there by chance, such as an order
   * to a node that was slower than a look. Returns it, for people.
   */
  giveUp(otherRuns: readonly (readonly string[])[]): string[] {
    const given: string[] = [];
    const others = otherRuns.map((passed) => this.#listOwn(passed));
    for (const [target, left] of this.#left) {
      const point = target.slice(0, target.lastIndexOf('/'));
      const often = Math.max(...others.map((passed) => passed.filter((each) => each === point).length));
      const hit = (this.#planned.get(target) ?? 0) - left;
      if (hit < often) continue;
      this.#left.delete(target);
      given.push(`${target} (${left})`);
    }
    return given;
  }

  /** With how often each, for people. */
  get missed(): string[] {
    return Array.from(this.#left, ([target, count]) => `${target} (${count})`);
  }

  /** As many as this are enough. Twice as many are aimed at, chosen by chance: no run is quite like another. */
  sample(count: number, random: () => number): void {
    const all = Array.from(this.#left, ([target, times]) => Array.from({ length: times }, () => target)).flat();
    while (all.length > 2 * count) all.splice(Math.floor(random() * all.length), 1);
    this.#wanted = count;
    this.#left.clear();
    for (const target of all) this.#left.set(target, (this.#left.get(target) ?? 0) + 1);
    this.#planned = new Map(this.#left);
  }

  note({ event, point, moment }: PointLine): void {
    if (event === 'passed' || moment === 'after') this.#passing.delete(`${point}/before`);
    const target = `${point}/${moment}`;
    const left = this.#left.get(target) ?? 0;
    if (event === 'passed' || left === 0 || this.isDone || this.#passing.has(target)) return;
    if (moment === 'before') this.#passing.add(target);
    this.#hits += 1;
    if (left > 1) this.#left.set(target, left - 1);
    else this.#left.delete(target);
  }

  #listOwn(passed: readonly string[]): string[] {
    const own = passed.filter(this.#isOwn);
    const isTelling = (point: string) => point.includes('/WriteStatus ');
    return [...own.filter((point) => !isTelling(point)), ...new Set(own.filter(isTelling))];
  }
}
