import { createLab } from '../cluster/create-lab.ts';
import { abortOnInterrupt } from '../interrupt.ts';
import { consoleProgress } from '../progress.ts';
import { nameOption, type Command } from './command.ts';

export const up: Command = {
  summary: 'start a lab; the last line printed is the path of its admin kubeconfig',
  options: {
    name: nameOption,
    nodes: { type: 'string', default: '3', value: 'N', description: 'how many nodes' },
  },
  async run({ name, nodes }) {
    const lab = await createLab({
      name: String(name),
      nodes: Number(nodes),
      progress: consoleProgress(),
      signal: abortOnInterrupt(),
    });
    console.log(lab.kubeconfig);
  },
};
