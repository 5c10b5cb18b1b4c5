import { appendFileSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { Reporter, SerializedError, TestCase, TestModule, TestSpecification } from 'vitest/node';
import { clearStatus, dim, drawStatus, duration, fail, pass, printLine } from './screen.ts';
import { shorten, type Tally } from './tally.ts';

/** A line per file, the failures in full, a live counter on a terminal; the tally goes to a file for the runner. */
export default class SuiteReporter implements Reporter {
  readonly #tally: Tally = { passed: 0, failed: 0, skipped: 0, problems: [], failures: [] };
  readonly #log = process.env.SUITE_LOG;
  #files = { done: 0, total: 0 };
  #current = '';

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#files.total = specifications.length;
    this.#draw();
  }

  onTestModuleStart(module: TestModule): void {
    this.#current = module.relativeModuleId;
    this.#draw();
  }

  onTestCaseReady(test: TestCase): void {
    this.#current = `${test.module.relativeModuleId} › ${test.fullName}`;
    this.#draw();
  }

  onTestCaseResult(test: TestCase): void {
    const result = test.result();
    if (result.state === 'passed') this.#tally.passed++;
    if (test.diagnostic()?.flaky) {
      this.#print(`    ! passed only at the second try: ${test.module.relativeModuleId} › ${test.fullName}`);
      for (const error of result.errors ?? []) this.#printError(error);
    }
    if (result.state === 'skipped') {
      this.#tally.skipped++;
      this.#print(`    - skipped: ${test.fullName}${result.note ? ` (${result.note})` : ''}`);
    }
    if (result.state === 'failed') {
      this.#tally.failed++;
      this.#print(`    ${fail} ${test.module.relativeModuleId} › ${test.fullName}`);
      for (const error of result.errors) this.#printError(error);
      const [why] = result.errors.map(explain);
      this.#tally.failures.push(`${test.module.relativeModuleId} › ${test.fullName}\n${shorten(why ?? '')}`);
    }
    this.#draw();
  }

  onTestModuleEnd(module: TestModule): void {
    this.#files.done++;
    const states = [...module.children.allTests()].map((test) => test.result().state);
    const countOf = (state: string) => states.filter((each) => each === state).length;
    const failed = countOf('failed');
    const count = failed > 0 ? `${failed} of ${states.length} failed` : `${countOf('passed')} passed`;
    const time = duration(module.diagnostic().duration);
    this.#print(
      `    ${module.ok() ? pass : fail} ${module.relativeModuleId.padEnd(60)} ${count.padStart(14)}  ${dim(time)}`,
    );
    // A file that does not load, and a hook of a suite that throws, fail without a test of their own.
    for (const owner of [module, ...module.children.allSuites()]) {
      for (const error of owner.errors()) this.#problem(module.relativeModuleId, error);
    }
    this.#draw();
  }

  onUserConsoleLog(log: { content: string }): void {
    if (this.#log) appendFileSync(this.#log, log.content);
  }

  onTestRunEnd(_modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    for (const error of errors) this.#problem('outside any test', error);
    clearStatus();
    if (process.env.SUITE_TALLY) writeFileSync(process.env.SUITE_TALLY, JSON.stringify(this.#tally));
  }

  #problem(where: string, error: SerializedError): void {
    this.#tally.problems.push(`${where}: ${error.message}`);
    this.#print(`    ${fail} ${where}`);
    this.#printError(error);
  }

  #printError(error: SerializedError): void {
    for (const line of explain(error).split('\n')) this.#print(`        ${line}`);
  }

  #print(line: string): void {
    if (this.#log) appendFileSync(this.#log, `${line}\n`);
    printLine(line);
  }

  #draw(): void {
    const { passed, failed } = this.#tally;
    drawStatus(
      `    ${this.#files.done}/${this.#files.total} files  ${passed} passed  ${failed} failed  ${this.#current}`,
    );
  }
}

function explain(error: SerializedError): string {
  const frame = error.stacks?.find(({ file }) => !file.includes('node_modules'));
  const text = [error.message, error.diff, frame && dim(`at ${relative('.', frame.file)}:${frame.line}`)];
  return text.filter(Boolean).join('\n');
}
