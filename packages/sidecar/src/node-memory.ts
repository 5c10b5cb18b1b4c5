import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { NodeSettings } from './settings.ts';

/** A peer as this node last knew it. */
export interface KnownPeer {
  readonly id: string;
  readonly ip: string;
  readonly port: number;
  readonly hostname: string;
  /** It was a replica of this node. */
  readonly isReplica: boolean;
}

/** The place of a node in its cluster: what must be remembered when nodes.conf is lost. */
export interface Membership {
  readonly nodeId: string;
  readonly role: 'primary' | 'replica';
  /** As SlotSet writes them; empty for none. */
  readonly slots: string;
  readonly configEpoch: number;
  readonly peers: readonly KnownPeer[];
}

/** What the running Valkey was started with, or what was set since. */
export interface RunningSettings extends NodeSettings {
  /** What CONFIG GET answered once they were in effect: what is different later, somebody else has changed. */
  readonly values?: Readonly<Record<string, string>>;
  /** Settings whose new value waits for a restart. */
  readonly restartFor?: readonly string[];
}

/** Settings that Valkey would not take. */
export interface RejectedSettings {
  readonly hash: string;
  readonly message: string;
}

export interface NodeMemory {
  /** Made with the first start and kept: tells an emptied directory from one that was always empty. */
  readonly marker: string;
  readonly membership?: Membership;
  readonly running?: RunningSettings;
  readonly rejected?: RejectedSettings | undefined;
}

/**
 * Kept twice: in the pod, where a wiped data directory cannot reach it, and on the volume, where a new pod finds it.
 * The pod's copy is the newer one whenever both are there.
 */
export class MemoryFiles {
  readonly #files: { readonly pod: string; readonly volume: string };
  readonly #onProblem: (error: unknown) => void;
  #current: NodeMemory;
  #work: Promise<void> = Promise.resolve();

  static async open(
    files: { readonly pod: string; readonly volume: string },
    onProblem: (error: unknown) => void,
  ): Promise<MemoryFiles> {
    const [pod, volume] = await Promise.all([readMemory(files.pod), readMemory(files.volume)]);
    return new MemoryFiles(files, onProblem, pod, volume);
  }

  private constructor(
    files: { readonly pod: string; readonly volume: string },
    onProblem: (error: unknown) => void,
    pod: NodeMemory | undefined,
    volume: NodeMemory | undefined,
  ) {
    this.#files = files;
    this.#onProblem = onProblem;
    this.#current = pod ?? volume ?? { marker: randomUUID() };
  }

  get current(): NodeMemory {
    return this.#current;
  }

  /** Writes only what has changed, so that it may be called with every look at Valkey. */
  update(change: Partial<Omit<NodeMemory, 'marker'>>): Promise<void> {
    const next = { ...this.#current, ...change };
    if (JSON.stringify(next) === JSON.stringify(this.#current)) return this.#work;
    this.#current = next;
    return this.save();
  }

  /** A copy that was deleted with the data comes back with the next save. */
  save(): Promise<void> {
    const text = JSON.stringify(this.#current);
    const both = async () => {
      const results = await Promise.allSettled(
        [this.#files.pod, this.#files.volume].map((file) => replace(file, text)),
      );
      for (const result of results) if (result.status === 'rejected') this.#onProblem(result.reason);
    };
    this.#work = this.#work.then(both);
    return this.#work;
  }

  /** Data and identity are given up on purpose: nothing of them may hold up the next start. */
  forgetMembership(): Promise<void> {
    const { membership: _, ...rest } = this.#current;
    this.#current = rest;
    return this.save();
  }
}

async function readMemory(file: string): Promise<NodeMemory | undefined> {
  try {
    const parsed: unknown = JSON.parse(await readFile(file, 'utf8'));
    return typeof parsed === 'object' && parsed !== null && 'marker' in parsed ? (parsed as NodeMemory) : undefined;
  } catch {
    return undefined;
  }
}

async function replace(file: string, text: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(`${file}.new`, text);
  await rename(`${file}.new`, file);
}
