/** The load as a process of its own, so that a busy test does not stop its clock. Speaks with `start-load.ts` alone. */
import { once } from 'node:events';
import type { NodeAddress } from '@valkey-operator/valkey';
import { Load, type LoadOptions, type LoadReport } from './load.ts';

export type ToLoad =
  | { readonly do: 'start'; readonly options: LoadOptions }
  | { readonly do: 'seeds'; readonly seeds: readonly NodeAddress[] }
  | { readonly do: 'phase' | 'read' | 'stop' };

export type FromLoad =
  | { readonly said: 'seeds' }
  | { readonly said: 'started' | 'phase' }
  | { readonly said: 'report'; readonly report: LoadReport }
  | { readonly said: 'failed'; readonly message: string };

const tell = (message: FromLoad): boolean => process.send!(message);
const seedsArrived = new EventTarget();

async function findSeeds(): Promise<readonly NodeAddress[]> {
  const arrival = once(seedsArrived, 'seeds') as Promise<[CustomEvent<readonly NodeAddress[]>]>;
  tell({ said: 'seeds' });
  const [{ detail }] = await arrival;
  return detail;
}

let load: Load | undefined;

async function obey(message: ToLoad): Promise<void> {
  switch (message.do) {
    case 'seeds':
      seedsArrived.dispatchEvent(new CustomEvent('seeds', { detail: message.seeds }));
      return;
    case 'start':
      load = await Load.start(findSeeds, message.options);
      tell({ said: 'started' });
      return;
    case 'phase':
      load?.startPhase();
      tell({ said: 'phase' });
      return;
    case 'read':
      if (load) tell({ said: 'report', report: load.read() });
      return;
    case 'stop':
      if (load) tell({ said: 'report', report: await load.stop() });
      process.disconnect();
      return;
  }
}

process.on('message', (message: ToLoad) => {
  obey(message).catch((error: unknown) => tell({ said: 'failed', message: String(error) }));
});
// Whoever started it is gone: so is the reason for it.
process.on('disconnect', () => process.exit());
