import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { silentProgress, type Progress } from '../progress.ts';
import type { LabAuthority } from './certificates.ts';
import { removeCgroup } from './cgroups.ts';
import { removeComponents } from './component-record.ts';
import { loadAuthority } from './control-plane.ts';
import { copyImageStore } from './image-store.ts';
import type { Lab } from './lab.ts';
import { assertNodeCount, layoutNode, type NodeLayout } from './layout.ts';
import { attachNode, detachNode } from './network.ts';
import { createNodeMounts, removeNodeMounts } from './node-mounts.ts';
import { containerdComponent, kubeletComponents, prepareNode } from './node.ts';
import { withLabLock } from './remove-lab.ts';
import { waitForContainerd, waitForNodes } from './wait.ts';

/** Make everything of a node but the kubelet, which needs an API server to speak to. */
export async function makeNode(lab: Lab, node: NodeLayout, authority: LabAuthority): Promise<void> {
  await prepareNode(lab.layout, node, authority);
  await createNodeMounts(node);
  await attachNode(lab.layout, node);
  await copyImageStore(join(node.dir, 'containerd'));
  lab.start(containerdComponent(node));
}

export async function startKubelet(lab: Lab, node: NodeLayout): Promise<void> {
  await waitForContainerd(lab, node);
  for (const spec of kubeletComponents(node, lab.binaries)) lab.start(spec);
}

/** Add a node to a running lab. When that fails, the lab is as it was. */
export async function addNode(lab: Lab, progress: Progress = silentProgress): Promise<NodeLayout> {
  return withLabLock(lab.name, async () => {
    const ordinals = lab.nodes.map(({ ordinal }) => ordinal);
    const node = layoutNode(lab.layout, assertNodeCount(Math.max(...ordinals) + 1));
    try {
      await progress.step(`Add ${node.name}`, async (step) => {
        await makeNode(lab, node, await loadAuthority(lab.layout));
        await startKubelet(lab, node);
        await waitForNodes(lab, [node], step);
      });
    } catch (error) {
      await clearNode(lab, node);
      throw error;
    }
    return node;
  });
}

async function clearNode(lab: Lab, node: NodeLayout): Promise<void> {
  await removeCgroup(node.cgroup);
  await removeNodeMounts(node);
  await detachNode(lab.layout, node);
  removeComponents(lab.layout, node);
  await lab.kubectl(['delete', 'node', node.name, '--ignore-not-found', '--wait=false'], { allowFailure: true });
  for (const dir of [node.runDir, node.dir]) rmSync(dir, { recursive: true, force: true });
}
