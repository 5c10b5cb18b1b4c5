import { randomUUID } from 'node:crypto';
import type { NodeReport } from '@valkey-operator/rpc';
import type { CertificateFiles, ReportSource } from '@valkey-operator/rpc/sidecar';
import { freeBytes, inspectData } from './data-directory.ts';
import type { Environment } from './environment.ts';
import type { MemoryFiles } from './node-memory.ts';
import { paths } from './paths.ts';
import { judgeReadiness } from './readiness.ts';
import { buildReport } from './report.ts';
import type { SettingsInEffect } from './settings-in-effect.ts';
import { shareNext } from './share-next.ts';
import { significanceOf } from './significance.ts';
import { asTold } from './slot-move/as-told.ts';
import type { SlotMover } from './slot-move/slot-mover.ts';
import type { SlotSearch } from './slot-search.ts';
import type { StartGate } from './start-gate/start-gate.ts';
import type { ValkeyWatch } from './valkey-watch.ts';

export interface ReportsOptions {
  readonly environment: Environment;
  readonly watch: ValkeyWatch;
  readonly mover: Pick<SlotMover, 'progress'>;
  readonly search: Pick<SlotSearch, 'findings'>;
  readonly gate: StartGate;
  readonly memory: MemoryFiles;
  readonly certificate: () => { readonly files: CertificateFiles | undefined; readonly message: string };
  /** As they lie on disk. */
  readonly settings: () => { readonly hash: string; readonly message: string };
  readonly settingsInEffect: Pick<SettingsInEffect, 'look' | 'report'>;
  readonly leaderEpoch: () => bigint;
  readonly isStopping: () => boolean;
}

/** What never rests (offsets, counters) is passed on at most this often. */
const RESTLESS_MS = 1000;

/** The reports of this sidecar: one on demand, and a stream of changes for those who watch. */
export class Reports implements ReportSource {
  readonly #options: ReportsOptions;
  readonly #lookAnew: () => Promise<unknown>;
  readonly #bootId = randomUUID();
  readonly #listeners = new Set<(report: NodeReport) => void>();
  #sequence = 0n;
  #told = { significant: '', at: 0 };

  constructor(options: ReportsOptions) {
    this.#options = options;
    this.#lookAnew = shareNext(() => options.watch.refresh());
    options.watch.subscribe(() => void this.#tell());
  }

  get isWatched(): boolean {
    return this.#listeners.size > 0;
  }

  /** Asks Valkey after the call, never before it: guards are checked against this. */
  async read(): Promise<NodeReport> {
    await this.#lookAnew().catch(() => undefined);
    await this.#options.settingsInEffect.look().catch(() => undefined);
    return this.current();
  }

  /** Of the last look, without asking Valkey. */
  async current(): Promise<NodeReport> {
    const { environment, watch, mover, search, gate, memory, certificate, leaderEpoch, isStopping } = this.#options;
    const { files, message } = certificate();
    const { hash: renderedHash, message: configMessage } = this.#options.settings();
    const disk = gate.data ?? (await inspectData(paths.data));
    const free = await freeBytes(paths.data).catch(() => 0n);
    return buildReport({
      environment,
      bootId: this.#bootId,
      sequence: ++this.#sequence,
      now: new Date(),
      leaderEpoch: leaderEpoch(),
      view: watch.view,
      isStopping: isStopping(),
      facts: watch.facts,
      move: asTold(mover.progress, watch.facts),
      search: search.findings,
      config: { ...this.#options.settingsInEffect.report, renderedHash, message: configMessage },
      data: { disk, marker: memory.current.marker, freeBytes: free },
      certificate: { leaf: files?.leaf(), message },
      readiness: judgeReadiness(watch.view, watch.facts),
    });
  }

  subscribe(listener: (report: NodeReport) => void): () => void {
    this.#listeners.add(listener);
    this.#options.watch.reschedule();
    return () => {
      this.#listeners.delete(listener);
      this.#options.watch.reschedule();
    };
  }

  async #tell(): Promise<void> {
    if (!this.isWatched) return;
    const report = await this.current();
    const significant = significanceOf(report);
    const now = Date.now();
    if (significant === this.#told.significant && now - this.#told.at < RESTLESS_MS) return;
    this.#told = { significant, at: now };
    for (const listener of this.#listeners) listener(report);
  }
}
