import { choice, flag, integer, list, map, object, text } from '../schema/field.ts';

const annotations = map(
  'Annotations of the Service, for instance for a load balancer.',
  text('Value.', { max: 4096 }),
  {
    max: 32,
  },
).optional();

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
      loadBalancerSourceRanges: list('Networks that may connect, as CIDR.', text('A network.', { max: 64 }), {
        max: 64,
      }).optional(),
      firstNodePort: integer('With NodePort: pod N gets port firstNodePort + N; none: Kubernetes chooses.', {
        min: 1024,
        max: 65_535,
      }).optional(),
    },
  ).optional(),
});
