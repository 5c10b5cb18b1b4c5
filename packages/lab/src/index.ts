/** The lab as a library: what tests and benchmarks use. */
export { createLab, type CreateLabOptions } from './cluster/create-lab.ts';
export {
  dropTraffic,
  freezeComponent,
  healPartition,
  killComponent,
  partitionNode,
  thawComponent,
} from './cluster/faults.ts';
export { startNode, stopNode } from './cluster/node-power.ts';
export { Lab } from './cluster/lab.ts';
export { tagImage } from './cluster/node-images.ts';
export { listLabs } from './cluster/lab-record.ts';
export { addNode } from './cluster/make-node.ts';
export { removeLab } from './cluster/remove-lab.ts';
export { mislabelled } from './images/recipes.ts';
export { installOperator } from './install-operator.ts';
export { LabError, type LabErrorCode } from './errors.ts';

export { consoleProgress, silentProgress, type Progress } from './progress.ts';
export { run } from './run.ts';
