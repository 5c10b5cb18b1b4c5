import { setTimeout as sleep } from 'node:timers/promises';
import { durationMs } from '@bufbuild/protobuf/wkt';
import { done } from '@valkey-operator/rpc/sidecar';
import { expectArray } from '@valkey-operator/valkey';
import type { Connection } from '@valkey-operator/valkey/connection';
import { handler, InvalidCommandError } from './effect.ts';
import { toSlotSet } from './slots.ts';

const MIGRATE_TIMEOUT_MS = 10_000;
const DEFAULT_BATCH = 10;

/** Keys may hold any bytes, so they are never taken for text. A batch that was moved before is simply not there any more. */
export const moveKeys = (connection: () => Connection) =>
  handler<'moveKeys'>(
    async ({ slots, target, batchSize, pause }, { signal }) => {
      if (!target) throw new InvalidCommandError('moveKeys needs a target');
      const count = String(batchSize || DEFAULT_BATCH);
      const head = ['MIGRATE', target.ip, String(target.port), '', '0', String(MIGRATE_TIMEOUT_MS), 'REPLACE', 'KEYS'];
      let moved = 0n;
      for (const slot of toSlotSet(slots)) {
        for (;;) {
          signal.throwIfAborted();
          const keys = await connection().call(['CLUSTER', 'GETKEYSINSLOT', String(slot), count], { binary: true });
          const batch = expectArray(keys).filter((key) => Buffer.isBuffer(key));
          if (batch.length === 0) break;
          await connection().call([...head, ...batch], { timeoutMs: 2 * MIGRATE_TIMEOUT_MS });
          moved += BigInt(batch.length);
          if (pause) await sleep(durationMs(pause), undefined, { signal });
        }
      }
      return done({ unchanged: moved === 0n, detail: { case: 'moveKeys', value: { keys: moved } } });
    },
    { concurrent: true },
  );
