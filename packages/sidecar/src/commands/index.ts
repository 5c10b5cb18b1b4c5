import type { CommandHandlers } from '@valkey-operator/rpc/sidecar';
import type { MemoryFiles } from '../node-memory.ts';
import type { SettingsInEffect } from '../settings-in-effect.ts';
import type { SlotMover } from '../slot-move/slot-mover.ts';
import type { SlotSearch } from '../slot-search.ts';
import type { StartGate } from '../start-gate/start-gate.ts';
import type { ValkeyWatch } from '../valkey-watch.ts';
import { bumpEpoch, setConfigEpoch } from './epochs.ts';
import { failover } from './failover.ts';
import { forget } from './forget.ts';
import { meet } from './meet.ts';
import { cancelMove, moveSlots } from './move-slots.ts';
import { refuseWhile } from './observe.ts';
import { releaseGate } from './release-gate.ts';
import { replicate } from './replicate.ts';
import { reset } from './reset.ts';
import { save } from './save.ts';
import { setConfig } from './set-config.ts';
import { shutdown } from './shutdown.ts';
import { addSlots, closeSlots, deleteSlots, searchSlots } from './slots.ts';

export interface CommandDependencies {
  readonly watch: ValkeyWatch;
  readonly mover: SlotMover;
  readonly search: SlotSearch;
  readonly gate: StartGate;
  readonly memory: MemoryFiles;
  readonly settings: SettingsInEffect;
  readonly isTerminating: () => boolean;
  readonly nodeTimeoutMs: () => Promise<number>;
}

/** Everything the operator can order. The guard of a command has been checked when its handler is called. */
export function createHandlers(dependencies: CommandDependencies): CommandHandlers {
  const { watch, mover, search, gate, memory, settings, isTerminating, nodeTimeoutMs } = dependencies;
  const handlers: CommandHandlers = {
    meet: meet(watch),
    addSlots: addSlots(watch, { nodeTimeoutMs, settings }),
    deleteSlots: deleteSlots(watch),
    replicate: replicate(watch),
    failover: failover(watch),
    forget: forget(watch),
    reset: reset(watch, memory),
    closeSlots: closeSlots(watch, mover),
    searchSlots: searchSlots(watch, search),
    bumpEpoch: bumpEpoch(watch),
    setConfigEpoch: setConfigEpoch(watch),
    setConfig: setConfig(settings),
    moveSlots: moveSlots(watch, mover),
    cancelMove: cancelMove(watch, mover),
    save: save(watch),
    shutdown: shutdown(watch),
    releaseGate: releaseGate(gate),
  };
  return refuseWhile(isTerminating, handlers);
}
