import { importImages, type BuiltImage } from '../images/index.ts';
import { run } from '../run.ts';
import type { Lab } from './lab.ts';

/** Image references by node name, as the container runtime of each node knows them. */
export async function listNodeImages(lab: Lab): Promise<Record<string, string[]>> {
  const rows = lab.nodes.map(async (node): Promise<[string, string[]]> => {
    const { stdout } = await runOn(node, ['images', 'ls', '--quiet']);
    // Besides its name, the runtime keeps every image under its digest.
    return [
      node.name,
      stdout.split('\n').filter((ref) => ref && !ref.startsWith('sha256:') && !ref.includes('@sha256:')),
    ];
  });
  return Object.fromEntries(await Promise.all(rows));
}

/** Bring images that were built meanwhile onto the nodes of a running lab. */
export async function loadImages(lab: Lab, images: BuiltImage[]): Promise<void> {
  await Promise.all(lab.nodes.map((node) => importImages({ containerdAddress: node.containerdSocket, images })));
}

/** Have an image answer to another name too, on the nodes that are there. */
export async function tagImage(lab: Lab, ref: string, alias: string): Promise<void> {
  await Promise.all(lab.nodes.map((node) => runOn(node, ['images', 'tag', '--force', ref, alias])));
}

function runOn({ containerdSocket }: Lab['nodes'][number], args: string[]) {
  return run('ctr', ['--address', containerdSocket, '--namespace', 'k8s.io', ...args]);
}
