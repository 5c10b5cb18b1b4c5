import { assertPossible } from '../cluster/host.ts';
import { Lab } from '../cluster/lab.ts';
import { installOperator } from '../install-operator.ts';
import { consoleProgress } from '../progress.ts';
import { nameOption, type Command } from './command.ts';

export const install: Command = {
  summary: 'install CRDs and operator into namespace valkey-system of a lab; ready when it returns',
  options: { name: nameOption },
  async run({ name }) {
    assertPossible();
    await installOperator(Lab.open(String(name)), consoleProgress());
  },
};
