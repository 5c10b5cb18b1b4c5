import { durationFromMs } from '@bufbuild/protobuf/wkt';
import type { EventOutbox } from './event-outbox.ts';
import { handOver, type HandoverResult } from './handover.ts';
import type { Log } from './log.ts';
import type { SettingsInEffect } from './settings-in-effect.ts';
import type { SlotMover } from './slot-move/slot-mover.ts';
import type { ValkeyWatch } from './valkey-watch.ts';

export interface TerminationOptions {
  readonly watch: ValkeyWatch;
  readonly mover: Pick<SlotMover, 'cancel'>;
  readonly events: Pick<EventOutbox, 'add'>;
  readonly settings: Pick<SettingsInEffect, 'beginOwnChange'>;
  readonly graceMs: number;
  readonly log: Log;
}

// Of the grace period, what Valkey needs after the handover to write its data to disk.
const RESERVE_SHARE = 0.5;
/** Of the time for the handover, what a replica gets to catch up first. Two attempts fit into the rest. */
const PATIENCE_SHARE = 1 / 3;

/** The way out of the pod: preStop and SIGTERM lead here, and the first one does the work. */
export class Termination {
  readonly #options: TerminationOptions;
  #result: Promise<HandoverResult> | undefined;
  #endOwnChange = (): void => undefined;

  constructor(options: TerminationOptions) {
    this.#options = options;
  }

  get hasBegun(): boolean {
    return this.#result !== undefined;
  }

  begin(): Promise<HandoverResult> {
    this.#result ??= this.#run();
    return this.#result;
  }

  /** preStop also runs when only the container is restarted (its liveness failed): then a new Valkey asks to start. */
  reset(): void {
    this.#result = undefined;
    this.#endOwnChange();
  }

  async #run(): Promise<HandoverResult> {
    const { watch, mover, events, settings, graceMs, log } = this.#options;
    log.info('the pod is being terminated', { graceMs });
    events.add({ case: 'podTerminating', value: { grace: durationFromMs(graceMs) } });
    watch.stopRequested = true;
    this.#endOwnChange = settings.beginOwnChange();
    const timeMs = Math.max(1, graceMs * (1 - RESERVE_SHARE));
    const signal = AbortSignal.timeout(timeMs);
    const patientUntil = Date.now() + timeMs * PATIENCE_SHARE;
    // A failover would break it off anyway, only less gently.
    await mover.cancel();
    const result = await handOver(watch, log, { signal, patientUntil });
    // It is leaving: nobody should elect it, or hand over to it, any more.
    await watch.call('CONFIG', 'SET', 'cluster-replica-no-failover', 'yes').catch(() => undefined);
    log.info('handover ended', { ...result });
    if (result.outcome === 'handed-over') {
      events.add({ case: 'handedOver', value: { newPrimaryId: result.newPrimaryId } });
    }
    return result;
  }
}
