import { createLab } from '../cluster/create-lab.ts';
import { parseNodeCount } from '../cluster/layout.ts';
import { abortOnInterrupt } from '../interrupt.ts';
import { consoleProgress } from '../progress.ts';
import { nameOption, nodesOption, type Command } from './command.ts';

export const up: Command = {
  summary: 'start a lab; the last line printed is the path of its admin kubeconfig',
  options: {
    name: nameOption,
    nodes: nodesOption,
  },
  async run({ name, nodes }) {
    const lab = await createLab({
      name: String(name),
      nodes: parseNodeCount(String(nodes)),
      progress: consoleProgress(),
      signal: abortOnInterrupt(),
    });
    console.log(lab.kubeconfig);
  },
};
