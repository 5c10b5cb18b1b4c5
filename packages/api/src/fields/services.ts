import { choice, flag, integer, list, map, object, text } from '../schema/field.ts';
import { matches, type Rule } from '../schema/rule.ts';
import { keysQualified } from './user-metadata.ts';

const annotations = map(
  'Annotations of the Service, for instance for a load balancer.',
  text('Value.', { max: 4096 }),
  { max: 32, rules: [keysQualified] },
).optional();

const network = matches(
  String.raw`^((\d{1,3}\.){3}\d{1,3}/([12]?\d|3[0-2])|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*/(1[01]\d|12[0-8]|[1-9]?\d))$`,
  'must be a network as CIDR, such as 203.0.113.0/24 or 2001:db8::/32',
);

/** Each pod has a port of its own. Counts that are left out may be larger than these. */
export const nodePortsFit: Rule = {
  rule:
    '!has(self.services) || !has(self.services.external) || !has(self.services.external.firstNodePort) || ' +
    'self.services.external.firstNodePort + (has(self.masterCount) ? self.masterCount : 3) * ' +
    '(1 + (has(self.replicasPerMaster) ? self.replicasPerMaster : 0)) <= 65536',
  message: 'must leave room for a port per pod up to 65535',
  fieldPath: '.services.external.firstNodePort',
};

export const services = object('How clients reach the pods. Applied without a restart, except announced addresses.', {
  client: object('The Service that leads to every ready pod.', {
    type: choice('Type of the Service.', ['ClusterIP', 'NodePort', 'LoadBalancer']).optional(),
    annotations,
  }).optional(),
  read: object('A Service that leads to replicas only.', {
    enabled: flag('Whether the Service exists.').optional(),
    annotations,
  }).optional(),
  external: object(
    'A Service per pod, so that clients outside of Kubernetes reach each node at its announced address.',
    {
      enabled: flag('Whether the Services exist.').optional(),
      type: choice('How a pod is reached from outside.', ['LoadBalancer', 'NodePort']).optional(),
      annotations,
      loadBalancerSourceRanges: list(
        'Networks that may connect, as CIDR.',
        text('A network.', { max: 64, rules: [network] }),
        { max: 64 },
      ).optional(),
      firstNodePort: integer(
        'With NodePort: pod N gets port firstNodePort + N; none: Kubernetes chooses. All must be in the range of the API server (--service-node-port-range), which is 30000-32767 unless it was started with another.',
        { min: 1024, max: 65_535 },
      ).optional(),
    },
  ).optional(),
});
