import { ports } from '../ports.ts';
import { flag, integer, object } from '../schema/field.ts';
import type { Rule } from '../schema/rule.ts';
import { image } from './image.ts';
import { resources } from './resources.ts';

/** All containers of a pod share its ports. */
const TAKEN = [ports.valkey, ports.valkeyBus, ports.sidecarGrpc, ports.sidecarHttp];
const freePort: Rule = {
  rule: `!(self in [${TAKEN.join(', ')}])`,
  message: `must not be a port that Valkey or the sidecar has in the same pod (${TAKEN.join(', ')}): choose another, such as ${ports.exporter}`,
};

export const exporter = object(
  'Prometheus exporter (redis_exporter) beside every Valkey. A change rolls the pods, except of pullPolicy and imagePullSecrets.',
  {
    enabled: flag('Whether the exporter runs.').optional(),
    image: image('Image of the exporter: redis_exporter 1.45 or later.').optional(),
    port: integer('Port of its metrics.', { min: 1024, max: 65_535, rules: [freePort] }).optional(),
    resources: resources('Resources of the exporter.').optional(),
  },
);
