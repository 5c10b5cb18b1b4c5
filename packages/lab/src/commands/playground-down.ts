import { removeLab } from '../cluster/remove-lab.ts';
import { PLAYGROUND } from '../playground.ts';
import { consoleProgress } from '../progress.ts';
import type { Command } from './command.ts';

export const playgroundDown: Command = {
  summary: 'remove a playground that was kept or detached',
  options: {},
  run: () => consoleProgress().step('Remove the playground', () => removeLab(PLAYGROUND)),
};
