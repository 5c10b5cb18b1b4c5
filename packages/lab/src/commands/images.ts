import { assertPossible } from '../cluster/host.ts';
import { listNodeImages } from '../cluster/node-images.ts';
import { Lab } from '../cluster/lab.ts';
import { jsonOption, nameOption, type Command } from './command.ts';

export const images: Command = {
  summary: 'list the images that the nodes of a lab hold',
  options: { name: nameOption, json: jsonOption },
  async run({ name, json }) {
    assertPossible();
    const nodes = await listNodeImages(Lab.open(String(name)));
    if (json) return console.log(JSON.stringify(nodes, null, 2));
    const refs = [...new Set(Object.values(nodes).flat())].toSorted();
    for (const ref of refs) {
      const missing = Object.keys(nodes).filter((node) => !nodes[node]!.includes(ref));
      console.log(missing.length > 0 ? `${ref}   (not on ${missing.join(', ')})` : ref);
    }
  },
};
