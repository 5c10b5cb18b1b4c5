import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createHttpTransport, KubeClient, kubeconfigAccess, type Transport } from '@valkey-operator/kube';
import { LabError } from '../errors.ts';
import { run, type RunOptions, type RunResult } from '../run.ts';
import { readComponents, writeComponent, type ComponentRecord } from './component-record.ts';
import { readRecord, type LabRecord } from './lab-record.ts';
import { assertLabName, layoutLab, layoutNode, type LabLayout, type NodeLayout } from './layout.ts';
import { isAlive, isFrozen, startComponent, type ComponentSpec, type ProcessId } from './processes.ts';

export type ComponentState = 'running' | 'frozen' | 'stopped';

/**
 * A lab that exists on this machine. It holds no state of its own: every question is answered from the record on disk and
 * from the processes themselves, so that a test, a shell and `lab-status` see the same thing.
 */
export class Lab {
  readonly layout: LabLayout;

  private constructor(layout: LabLayout) {
    this.layout = layout;
  }

  static open(name: string): Lab {
    const record = readRecord(assertLabName(name));
    if (!record) {
      throw new LabError(
        'NotFound',
        `there is no lab "${name}" on this machine`,
        `make one with: make lab-up NAME=${name}`,
      );
    }
    return new Lab(layoutLab(name, record.slot));
  }

  get name(): string {
    return this.layout.name;
  }

  get kubeconfig(): string {
    return this.layout.kubeconfig;
  }

  get record(): LabRecord {
    const record = readRecord(this.name);
    if (!record) throw new LabError('NotFound', `lab "${this.name}" was removed`, 'make it again with make lab-up');
    return record;
  }

  get binaries(): string {
    return this.record.binaries;
  }

  get nodes(): NodeLayout[] {
    const ordinals = readdirSync(this.layout.dir).flatMap((entry) => /^node(\d+)$/.exec(entry)?.[1] ?? []);
    return ordinals
      .map(Number)
      .toSorted((a, b) => a - b)
      .map((ordinal) => layoutNode(this.layout, ordinal));
  }

  node(name: string): NodeLayout {
    const node = this.nodes.find((candidate) => candidate.name === name);
    if (!node) {
      const known = this.nodes.map((candidate) => candidate.name).join(', ');
      throw new LabError('NotFound', `lab "${this.name}" has no node "${name}"`, `its nodes are ${known}`);
    }
    return node;
  }

  /** Run kubectl as the lab's administrator. */
  kubectl(args: readonly string[], options: RunOptions = {}): Promise<RunResult> {
    return run(join(this.binaries, 'kubectl'), ['--kubeconfig', this.kubeconfig, ...args], options);
  }

  /** The Kubernetes API as the lab's administrator, without a process for every question. */
  async api(): Promise<{ client: KubeClient; transport: Transport }> {
    const transport = createHttpTransport(await kubeconfigAccess({ env: { KUBECONFIG: this.kubeconfig } }));
    return { client: new KubeClient({ transport }), transport };
  }

  async kubectlJson<T>(args: readonly string[]): Promise<T> {
    return JSON.parse((await this.kubectl([...args, '-o', 'json'])).stdout) as T;
  }

  /** Create or update objects, as `kubectl apply` does it, by server-side apply. */
  async apply(manifests: string, ...args: string[]): Promise<void> {
    await this.kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-', ...args], { input: manifests });
  }

  components(): { name: string; state: ComponentState; process: ProcessId; log: string }[] {
    return readComponents(this.layout).map(({ spec, process: id }) => ({
      name: spec.name,
      state: !isAlive(id) ? 'stopped' : isFrozen(id) ? 'frozen' : 'running',
      process: id,
      log: spec.log,
    }));
  }

  /** How a component is started, and the process that it became last. */
  component(name: string): ComponentRecord {
    const components = readComponents(this.layout);
    const component = components.find(({ spec }) => spec.name === name);
    if (!component) {
      const known = components.map(({ spec }) => spec.name).join(', ');
      throw new LabError('NotFound', `lab "${this.name}" has no component "${name}"`, `it has ${known}`);
    }
    return component;
  }

  /** Start a component, or start it again with what it was first started with. Does nothing when it runs. */
  start(component: string | ComponentSpec): void {
    if (typeof component !== 'string') {
      writeComponent(this.layout, { spec: component, process: startComponent(component) });
      return;
    }
    const { spec, process: id } = this.component(component);
    if (!isAlive(id)) this.start(spec);
  }

  /** The last lines of a component's log. */
  logs(component: string, lines = 40): string[] {
    const { spec } = this.component(component);
    return existsSync(spec.log) ? readFileSync(spec.log, 'utf8').trimEnd().split('\n').slice(-lines) : [];
  }
}
