import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Lab } from './lab.ts';
import type { ComponentSpec } from './processes.ts';

/** The lab's storage provisioner runs beside the control plane, from source, on the Node that runs this. */
export function provisionerComponent(lab: Lab): ComponentSpec {
  return {
    name: 'provisioner',
    netns: lab.layout.switchNetns,
    argv: [
      process.execPath,
      fileURLToPath(new URL('../provisioner/main.ts', import.meta.url)),
      lab.kubeconfig,
      lab.layout.dir,
    ],
    log: join(lab.layout.dir, 'logs', 'provisioner.log'),
    cgroup: `${lab.layout.cgroup}/system`,
  };
}
