/** The environment of a sidecar in a pod. */
export const variables = {
  POD_NAME: 'vc-0',
  POD_NAMESPACE: 'ns',
  POD_UID: 'uid-0',
  POD_IP: '10.0.0.1',
  NODE_NAME: 'node-1',
  VALKEY_CLUSTER: 'vc',
  VALKEY_SERVICE: 'vc-headless',
  OPERATOR_ADDRESS: 'valkey-operator.system.svc:17379',
  TRUST_DOMAIN: 'valkey.test',
  TERMINATION_GRACE_SECONDS: '60',
  VALKEY_OPERATOR_VERSION: '0.1.0',
} as const;
