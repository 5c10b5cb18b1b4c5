import { assertPossible } from '../cluster/host.ts';
import { assertLabName } from '../cluster/layout.ts';
import { labLeavings, removeLab } from '../cluster/remove-lab.ts';
import { consoleProgress } from '../progress.ts';
import { nameOption, type Command } from './command.ts';

export const down: Command = {
  summary: 'remove a lab and everything it made, whatever state it is in',
  options: { name: nameOption },
  async run({ name }) {
    const lab = assertLabName(String(name));
    assertPossible();
    const found = labLeavings(lab).length > 0;
    await consoleProgress().step(
      found ? `Remove lab ${lab}` : `Lab ${lab} does not exist; clear what may be left`,
      () => removeLab(lab),
    );
  },
};
