import { consoleProgress, createLab, installOperator, type Lab, type Progress, removeLab } from '@valkey-operator/lab';

const NAME = 'bench-bed';

/**
 * The lab of three nodes with the operator that the benchmarks of one run share; made when the first one asks for it. With
 * BENCH_LAB it is the lab of that name, which is made if need be and stays: for whoever tries to make something faster.
 */
export class Testbed implements AsyncDisposable {
  readonly progress: Progress = consoleProgress();
  readonly #kept = process.env['BENCH_LAB'];
  readonly #abort = new AbortController();
  #lab: Promise<Lab> | undefined;

  lab(): Promise<Lab> {
    this.#lab ??= this.#make();
    return this.#lab;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    if (!this.#lab) return;
    await this.#lab.catch(() => undefined);
    if (!this.#kept) await removeLab(NAME);
  }

  async #make(): Promise<Lab> {
    const name = this.#kept ?? NAME;
    const { progress } = this;
    if (!this.#kept) await removeLab(name);
    const lab = await createLab({ name, nodes: 3, progress, signal: this.#abort.signal });
    await installOperator(lab, progress, this.#abort.signal);
    return lab;
  }
}
