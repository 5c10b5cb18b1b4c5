import { mkdirSync } from 'node:fs';
import { allDone } from '../all-done.ts';
import { resolveBinaries } from '../binaries/index.ts';
import { LabError } from '../errors.ts';
import { silentProgress, type Progress } from '../progress.ts';
import { addonManifests } from './addons.ts';
import { controlPlaneComponents, prepareControlPlane } from './control-plane.ts';
import { describeLab } from './describe-lab.ts';
import { assertPossible, prepareHost } from './host.ts';
import { fillImageStore } from './image-store.ts';
import { buildLabImages } from './lab-images.ts';
import { claimLab, readRecord, writeRecord } from './lab-record.ts';
import { Lab } from './lab.ts';
import { assertLabName, assertNodeCount, layoutNode } from './layout.ts';
import { makeNode, startKubelet } from './make-node.ts';
import { createSwitch } from './network.ts';
import { startNode } from './node-power.ts';
import { provisionerComponent } from './provisioner-component.ts';
import { clearLab, withLabLock } from './remove-lab.ts';
import { waitForApiServer, waitForDns, waitForNodes } from './wait.ts';

export interface CreateLabOptions {
  name: string;
  nodes?: number;
  progress?: Progress;
  /** Ends the making of the lab; what was made so far is removed. */
  signal?: AbortSignal | undefined;
}

/**
 * Make a lab, or return the one of that name that already runs. Whatever goes wrong, nothing half-made stays behind, and
 * the error carries the last words of the component that failed.
 */
export async function createLab({
  name,
  nodes = 3,
  progress = silentProgress,
  signal,
}: CreateLabOptions): Promise<Lab> {
  assertLabName(name);
  assertNodeCount(nodes);
  assertPossible();
  const turn = Promise.withResolvers<void>();
  let waiting: Promise<void> | undefined;
  const onWait = () => {
    waiting ??= progress.step(`Wait for another command on lab ${name}`, () => turn.promise);
  };
  const make = async () => {
    turn.resolve();
    await waiting;
    return findLab(name, nodes, progress) ?? makeLab(name, nodes, progress, signal);
  };
  return withLabLock(name, make, { onWait, signal }).finally(turn.resolve);
}

/** The lab of this name when it was made to the end and not all of it has died since. */
function findLab(name: string, nodes: number, progress: Progress): Promise<Lab> | undefined {
  if (!readRecord(name)?.complete) return undefined;
  const lab = Lab.open(name);
  if (lab.components().every(({ state }) => state === 'stopped')) return undefined;
  if (lab.nodes.length === nodes) return reviveLab(lab, progress);
  throw new LabError(
    'AlreadyRunning',
    `lab "${name}" already runs, with ${lab.nodes.length} nodes instead of ${nodes}`,
    `remove it first: make lab-down NAME=${name}`,
  );
}

/** Start what has died in a lab that otherwise runs. What a test froze stays frozen. */
async function reviveLab(lab: Lab, progress: Progress): Promise<Lab> {
  const dead = lab.components().flatMap(({ name, state }) => (state === 'stopped' ? name : []));
  if (dead.length === 0) return lab;
  await progress.step(`Start again ${dead.join(', ')}`, async (step) => {
    for (const name of ['etcd', 'kube-apiserver']) lab.start(name);
    await waitForApiServer(lab);
    for (const name of dead) if (!name.includes('/')) lab.start(name);
    const hurt = lab.nodes.filter((node) => dead.some((name) => name.startsWith(`${node.name}/`)));
    for (const { name } of hurt) await startNode(lab, name);
    await waitForNodes(lab, lab.nodes, step);
  });
  return lab;
}

async function makeLab(name: string, nodes: number, progress: Progress, signal: AbortSignal | undefined): Promise<Lab> {
  await prepareHost(progress);
  const binaries = await resolveBinaries({ progress });
  signal?.throwIfAborted();
  const images = await progress.step('Build images', (step) => buildLabImages(step, binaries.dir));
  signal?.throwIfAborted();
  await progress.step('Load images', () => fillImageStore(images));
  signal?.throwIfAborted();
  await clearLab(name);
  try {
    const record = await claimLab(name, binaries.dir);
    const lab = Lab.open(name);
    await startLab(lab, nodes, progress, signal);
    writeRecord({ ...record, complete: true });
    return lab;
  } catch (error) {
    const explained = signal?.aborted ? error : await explainFailure(name, error);
    await clearLab(name);
    throw explained;
  }
}

async function startLab(lab: Lab, count: number, progress: Progress, signal: AbortSignal | undefined): Promise<void> {
  const { layout } = lab;
  const nodes = Array.from({ length: count }, (_, index) => layoutNode(layout, index + 1));
  await progress.step('Start the control plane', async () => {
    mkdirSync(layout.runDir, { recursive: true });
    await createSwitch(layout);
    const authority = await prepareControlPlane(layout);
    const [etcd, apiServer, ...controllers] = controlPlaneComponents(layout, lab.binaries);
    for (const spec of [etcd, apiServer]) lab.start(spec!);
    await allDone(nodes.map((node) => makeNode(lab, node, authority)));
    await waitForApiServer(lab, signal);
    // They end when they find no API server, so they come after it.
    for (const spec of controllers) lab.start(spec);
  });
  await progress.step(`Start ${count} node${count === 1 ? '' : 's'}`, async (step) => {
    for (const node of nodes) await startKubelet(lab, node);
    lab.start(provisionerComponent(lab));
    await lab.apply(addonManifests(layout));
    await waitForNodes(lab, nodes, step, signal);
  });
  await progress.step('Wait for DNS', (step) => waitForDns(lab, step, signal));
}

/** The logs are about to be removed with the lab, so what they and Kubernetes say goes into the message. */
async function explainFailure(name: string, error: unknown): Promise<unknown> {
  if (!(error instanceof LabError) || !readRecord(name)) return error;
  const lab = Lab.open(name);
  const { problems } = await describeLab(name);
  const dead = lab.components().find(({ state }) => state === 'stopped');
  const words = dead ? [`the last lines of ${dead.name}:`, ...lab.logs(dead.name, 12).map((line) => `  ${line}`)] : [];
  const message = [error.message, ...problems.map(({ what }) => what), ...words].join('\n  ');
  return new LabError(error.code, message, dead || problems.length > 0 ? 'see the lines above' : error.remedy, error);
}
