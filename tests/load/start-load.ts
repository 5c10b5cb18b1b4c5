import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import type { NodeAddress } from '@valkey-operator/valkey';
import type { FromLoad, ToLoad } from './load-process.ts';
import { defaultLoad, type LoadOptions, type LoadReport } from './load.ts';

/** Ahead of the cluster under test on a machine with few cores: a gap should be the cluster's, not ours. */
const PRIORITY = -10;

/** A load in a process of its own. */
export class LoadProcess implements AsyncDisposable {
  readonly #child: ChildProcess;

  constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** From now on gaps are counted anew; those so far are the noise floor. */
  async startPhase(): Promise<void> {
    await this.#ask({ do: 'phase' }, 'phase');
  }

  /** What happened so far. */
  read(): Promise<LoadReport> {
    return this.#ask({ do: 'read' }, 'report');
  }

  /** Ends the writing, then looks whether every acknowledged write is there. */
  async stop(): Promise<LoadReport> {
    const report = await this.#ask({ do: 'stop' }, 'report');
    await this[Symbol.asyncDispose]();
    return report;
  }

  async start(options: LoadOptions): Promise<void> {
    await this.#ask({ do: 'start', options }, 'started');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, 'exit');
    if (this.#child.connected) this.#child.disconnect();
    await exit;
  }

  async #ask(message: ToLoad, answer: FromLoad['said']): Promise<LoadReport> {
    const { promise, resolve, reject } = Promise.withResolvers<LoadReport>();
    const listen = (heard: FromLoad): void => {
      if (heard.said === 'failed') reject(new Error(`the load failed: ${heard.message}`));
      else if (heard.said === answer) resolve('report' in heard ? heard.report : { seconds: 0, shards: [], keys: 0 });
    };
    const onExit = (): void => reject(new Error('the load ended unasked'));
    this.#child.on('message', listen).on('exit', onExit);
    try {
      this.#child.send(message);
      return await promise;
    } finally {
      this.#child.off('message', listen).off('exit', onExit);
    }
  }
}

export interface StartLoadOptions extends Partial<LoadOptions> {
  /** Where nodes of the cluster are just now; asked again when none of those known answers. */
  readonly findSeeds: () => Promise<readonly NodeAddress[]>;
}

export async function startLoad({ findSeeds, ...options }: StartLoadOptions): Promise<LoadProcess> {
  const child = fork(join(import.meta.dirname, 'load-process.ts'), { execArgv: [], detached: true });
  goAhead(child.pid!);
  const tell = (message: ToLoad): void => {
    if (child.connected) child.send(message);
  };
  child.on('message', ({ said }: FromLoad) => {
    if (said !== 'seeds') return;
    void findSeeds()
      .catch(() => [])
      .then((seeds) => tell({ do: 'seeds', seeds }));
  });
  const load = new LoadProcess(child);
  await load.start({ ...defaultLoad, ...options });
  return load;
}

/**
 * Linux shares the processor among sessions first (autogroup), and a priority counts only within one: so the load has a
 * session of its own, and that one is ahead.
 */
function goAhead(pid: number): void {
  setPriority(pid, PRIORITY);
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(PRIORITY));
  } catch {
    // A kernel without autogroups needs nothing else.
  }
}
