import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LabError } from '../errors.ts';
import { run, type RunOptions, type RunResult } from '../run.ts';
import { createCgroup } from './cgroups.ts';
import { readRecord, writeRecord, type LabRecord } from './lab-record.ts';
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
      throw new LabError('NotFound', `there is no lab "${name}" on this machine`, `make one with: make lab-up NAME=${name}`);
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
    return this.record.nodes.map((ordinal) => layoutNode(this.layout, ordinal));
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

  async kubectlJson<T>(args: readonly string[]): Promise<T> {
    return JSON.parse((await this.kubectl([...args, '-o', 'json'])).stdout) as T;
  }

  /** Create or update objects, as `kubectl apply` does it, by server-side apply. */
  async apply(manifests: string, ...args: string[]): Promise<void> {
    await this.kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-', ...args], { input: manifests });
  }

  components(): { name: string; state: ComponentState; process: ProcessId | undefined; log: string }[] {
    return Object.values(this.record.components).map(({ spec, process: id }) => ({
      name: spec.name,
      state: !id || !isAlive(id) ? 'stopped' : isFrozen(id) ? 'frozen' : 'running',
      process: id,
      log: spec.log,
    }));
  }

  /** The component's definition and, when it runs, its process. */
  component(name: string): { spec: ComponentSpec; process?: ProcessId } {
    const component = this.record.components[name];
    if (!component) {
      const known = Object.keys(this.record.components).join(', ');
      throw new LabError('NotFound', `lab "${this.name}" has no component "${name}"`, `it has ${known}`);
    }
    return component;
  }

  /** Start a component, or start it again with what it was first started with. Does nothing when it runs. */
  start(component: string | ComponentSpec): void {
    const { spec, process: running } =
      typeof component === 'string' ? this.component(component) : { spec: component, process: undefined };
    if (running && isAlive(running)) return;
    const id = startComponent(spec);
    const record = this.record;
    record.components[spec.name] = { spec, process: id };
    writeRecord(record);
  }

  /** The last lines of a component's log. */
  logs(component: string, lines = 40): string[] {
    const { spec } = this.component(component);
    return existsSync(spec.log) ? readFileSync(spec.log, 'utf8').trimEnd().split('\n').slice(-lines) : [];
  }

  /** cgroup directories for the control plane's programs, or for those of a node. */
  systemCgroup(node?: NodeLayout): string[] {
    return createCgroup(`${(node ?? this.layout).cgroup}/system`);
  }
}
