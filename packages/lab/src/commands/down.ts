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
    const title = labLeavings(lab).length > 0 ? `Remove lab ${lab}` : `Lab ${lab} is not there; clear what may be left`;
    await consoleProgress().step(title, async (step) => {
      await removeLab(lab, { onWait: () => step.note('waiting for another command on it') });
      step.note('');
    });
  },
};
