import { assertPossible } from '../cluster/host.ts';
import { removeLab } from '../cluster/remove-lab.ts';
import { consoleProgress } from '../progress.ts';
import { playgroundNameOption, type Command } from './command.ts';

export const playgroundDown: Command = {
  summary: 'remove a playground that was kept or detached',
  options: { name: playgroundNameOption },
  async run({ name }) {
    assertPossible();
    await consoleProgress().step('Remove the playground', () => removeLab(String(name)));
  },
};
