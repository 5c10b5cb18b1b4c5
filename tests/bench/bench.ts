import type { Testbed } from './support/testbed.ts';

/** What one benchmark measured. `ours` is compared with `floor`: the least that the same machine could do, just now. */
export interface Measurement {
  ours: number;
  floor: number;
  unit: string;
  /** A promise in absolute terms, in the same unit: above it the benchmark fails. */
  limit?: number;
  /** A promise about `ours / floor`. */
  maxRatio?: number;
  /** What else was measured on the way; with a limit it is a promise as well. */
  also?: readonly Figure[];
}

export interface Figure {
  what: string;
  value: number;
  unit: string;
  limit?: number;
}

export interface Bench {
  name: string;
  description: string;
  run(testbed: Testbed): Promise<Measurement>;
}

/** The one line that a benchmark is: figures are kept short, the ratio is what is compared between machines. */
export function formatResult(name: string, { ours, floor, unit }: Measurement): string {
  const [us, least] = [ours, floor].map((value) => formatFigure(value, unit));
  return `bench ${name} ratio=${(ours / floor).toFixed(2)} (ours ${us}, floor ${least})`;
}

/** The promises that were not kept, each in a few words. */
export function findBroken({ ours, floor, unit, limit, maxRatio, also = [] }: Measurement): string[] {
  const figures: Figure[] = [
    { what: 'ours', value: ours, unit, ...(limit !== undefined && { limit }) },
    { what: 'the ratio', value: ours / floor, unit: '', ...(maxRatio !== undefined && { limit: maxRatio }) },
    ...also,
  ];
  return figures.flatMap(({ what, value, unit: in_, limit: most }) =>
    most !== undefined && !(value <= most)
      ? [`${what} is ${formatFigure(value, in_)}, promised within ${formatFigure(most, in_)}`]
      : [],
  );
}

export function formatFigure(value: number, unit: string): string {
  return `${Number(value.toPrecision(3))} ${unit}`.trimEnd();
}

/** Of an odd number of runs the middle one, else the mean of the two in the middle: one disturbed run does not count. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]];
  if (low === undefined || high === undefined) throw new RangeError('there is no median of nothing');
  return (low + high) / 2;
}

/** Pick the benchmarks to run; an unknown name is an error that lists the known ones. */
export function selectBenches(benches: Bench[], names: string[]): Bench[] {
  const unknown = names.find((name) => !benches.some((bench) => bench.name === name));
  if (unknown !== undefined) {
    throw new Error(`no benchmark "${unknown}": there is ${benches.map((bench) => bench.name).join(', ')}`);
  }
  return names.length > 0 ? benches.filter((bench) => names.includes(bench.name)) : benches;
}
