/** What one benchmark measured. `ours` is compared with `floor`: the least that the same machine could do, just now. */
export interface Measurement {
  ours: number;
  floor: number;
  unit: string;
  /** A promise in absolute terms, in the same unit: above it the benchmark fails. */
  limit?: number;
}

export interface Bench {
  name: string;
  description: string;
  run(): Promise<Measurement>;
}

/** The one line that a benchmark is: figures are kept short, the ratio is what is compared between machines. */
export function formatResult(name: string, { ours, floor, unit }: Measurement): string {
  const figure = (value: number) => `${Number(value.toPrecision(3))} ${unit}`;
  return `bench ${name} ratio=${(ours / floor).toFixed(2)} (ours ${figure(ours)}, floor ${figure(floor)})`;
}

export function exceedsLimit({ ours, limit }: Measurement): boolean {
  return limit !== undefined && ours > limit;
}

/** Pick the benchmarks to run; an unknown name is an error that lists the known ones. */
export function selectBenches(benches: Bench[], names: string[]): Bench[] {
  const unknown = names.find((name) => !benches.some((bench) => bench.name === name));
  if (unknown !== undefined) {
    throw new Error(`no benchmark "${unknown}": there is ${benches.map((bench) => bench.name).join(', ')}`);
  }
  return names.length > 0 ? benches.filter((bench) => names.includes(bench.name)) : benches;
}
