import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { resolveBinaries } from '../binaries/index.ts';
import { LabError } from '../errors.ts';
import { buildImages } from '../images/index.ts';
import { silentProgress, type Progress } from '../progress.ts';
import { addonManifests } from './addons.ts';
import { createCgroup } from './cgroups.ts';
import { LabAuthority } from './certificates.ts';
import { controlPlaneComponents, prepareControlPlane } from './control-plane.ts';
import { describeLab } from './describe-lab.ts';
import { prepareHost } from './host.ts';
import { copyImageStore, fillImageStore } from './image-store.ts';
import { claimLab, readRecord, writeRecord } from './lab-record.ts';
import { Lab } from './lab.ts';
import { assertLabName, assertNodeCount, layoutLab, layoutNode, type NodeLayout } from './layout.ts';
import { attachNode, createSwitch } from './network.ts';
import { containerdComponent, kubeletComponents, prepareNode } from './node.ts';
import { provisionerComponent } from './provisioner-component.ts';
import { clearLab, withLabLock } from './remove-lab.ts';
import { waitForApiServer, waitForDns, waitForNodes } from './wait.ts';

export interface CreateLabOptions {
  name: string;
  nodes?: number;
  progress?: Progress;
  /** Ends the making of the lab; what was made so far is removed. */
  signal?: AbortSignal;
}

/**
 * Make a lab, or return the one of that name that already runs. Whatever goes wrong, nothing half-made stays behind, and
 * the error carries the last words of the component that failed.
 */
export function createLab(options: CreateLabOptions): Promise<Lab> {
  assertLabName(options.name);
  assertNodeCount(options.nodes ?? 3);
  return withLabLock(options.name, () => findOrMakeLab(options));
}

async function findOrMakeLab({ name, nodes = 3, progress = silentProgress, signal }: CreateLabOptions): Promise<Lab> {
  const running = findRunningLab(name);
  if (running) {
    if (running.nodes.length === nodes) return running;
    throw new LabError(
      'AlreadyRunning',
      `lab "${name}" already runs, with ${running.nodes.length} nodes instead of ${nodes}`,
      `remove it first: make lab-down NAME=${name}`,
    );
  }
  await prepareHost(progress);
  const binaries = await resolveBinaries({ progress });
  const images = await progress.step('Build images', (step) => buildImages({ step, binariesDir: binaries.dir }));
  await progress.step('Load images', () => fillImageStore(images));
  signal?.throwIfAborted();
  await clearLab(name);
  const record = await claimLab(name, binaries.dir);
  const layout = layoutLab(name, record.slot);
  const lab = Lab.open(name);
  const members = Array.from({ length: nodes }, (_, index) => layoutNode(layout, index + 1));
  try {
    await progress.step('Start the control plane', async () => {
      createCgroup(layout.cgroup);
      mkdirSync(layout.runDir, { recursive: true });
      await createSwitch(layout);
      const authority = await prepareControlPlane(layout);
      const [etcd, apiServer, ...controllers] = controlPlaneComponents(layout, binaries.dir, lab.systemCgroup());
      for (const spec of [etcd, apiServer]) lab.start(spec!);
      for (const node of members) await makeNode(lab, node, authority);
      await waitForApiServer(lab, signal);
      // They end when they find no API server, so they come after it.
      for (const spec of controllers) lab.start(spec);
    });
    await progress.step(`Start ${nodes} node${nodes === 1 ? '' : 's'}`, async (step) => {
      for (const node of members) startKubelet(lab, node);
      await waitForNodes(lab, nodes, step, signal);
    });
    await progress.step('Start DNS and storage', async (step) => {
      await lab.apply(addonManifests(layout));
      lab.start(provisionerComponent(lab));
      await waitForDns(lab, step, signal);
    });
    writeRecord({ ...lab.record, complete: true });
    return lab;
  } catch (error) {
    const explained = await explainFailure(lab, error);
    await clearLab(name);
    throw explained;
  }
}

/** Add a node to a running lab. */
export async function addNode(lab: Lab, progress: Progress = silentProgress): Promise<NodeLayout> {
  const ordinals = lab.record.nodes;
  const node = layoutNode(lab.layout, assertNodeCount(Math.max(...ordinals) + 1));
  await progress.step(`Add ${node.name}`, async (step) => {
    const pki = (file: string) => readFileSync(join(lab.layout.dir, 'pki', file), 'utf8');
    await makeNode(lab, node, await LabAuthority.load(pki('ca.crt'), pki('ca.key')));
    startKubelet(lab, node);
    await waitForNodes(lab, ordinals.length + 1, step);
  });
  return node;
}

function findRunningLab(name: string): Lab | undefined {
  if (!readRecord(name)?.complete) return undefined;
  const lab = Lab.open(name);
  return lab.components().some(({ state }) => state !== 'stopped') ? lab : undefined;
}

async function makeNode(lab: Lab, node: NodeLayout, authority: LabAuthority): Promise<void> {
  const record = lab.record;
  writeRecord({ ...record, nodes: [...record.nodes, node.ordinal] });
  await attachNode(lab.layout, node);
  await prepareNode(lab.layout, node, authority);
  await copyImageStore(join(node.dir, 'containerd'));
  lab.start(containerdComponent(node, lab.systemCgroup(node)));
}

function startKubelet(lab: Lab, node: NodeLayout): void {
  for (const spec of kubeletComponents(node, lab.binaries, lab.systemCgroup(node))) lab.start(spec);
}

/** The logs are about to be removed with the lab, so what they and Kubernetes say goes into the message. */
async function explainFailure(lab: Lab, error: unknown): Promise<unknown> {
  if (!(error instanceof LabError)) return error;
  const { problems } = await describeLab(lab.name);
  const dead = lab.components().find(({ state }) => state === 'stopped');
  const words = dead ? [`the last lines of ${dead.name}:`, ...lab.logs(dead.name, 12).map((line) => `  ${line}`)] : [];
  const message = [error.message, ...problems.map(({ what }) => what), ...words].join('\n  ');
  return new LabError(error.code, message, dead || problems.length > 0 ? 'see the lines above' : error.remedy, error);
}
