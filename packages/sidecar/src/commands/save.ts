import { setTimeout as sleep } from 'node:timers/promises';
import { FailureReason } from '@valkey-operator/rpc';
import { done, failed } from '@valkey-operator/rpc/sidecar';
import { expectInteger } from '@valkey-operator/valkey';
import { handler, type Node } from './effect.ts';

const POLL_MS = 100;

/** Others may run meanwhile: a snapshot of much data takes minutes. */
export const save = (node: Node) =>
  handler<'save'>(
    async (_payload, { signal }) => {
      // A snapshot that is under way began before the command: its end is waited for, then another one is taken.
      await settle(node, signal);
      const before = expectInteger(await node.call('LASTSAVE'));
      // LASTSAVE counts in seconds: in the next one, a new snapshot can be told from the last.
      while (Math.floor(Date.now() / 1000) <= before) await sleep(POLL_MS, undefined, { signal });
      await node.call('BGSAVE');
      await settle(node, signal);
      const after = expectInteger(await node.call('LASTSAVE'));
      return after > before ? done() : failed(FailureReason.VALKEY_ERROR, 'the snapshot was not written', true);
    },
    { concurrent: true },
  );

async function settle(node: Node, signal: AbortSignal): Promise<void> {
  while ((await node.refresh()).info.persistence?.rdbSaveInProgress) {
    await sleep(POLL_MS, undefined, { signal });
  }
}
