/** Where things lie in the pod; the pod template mounts its volumes to exactly these places. */
export const paths = {
  /** Valkey's configuration "file": a FIFO, so that every start of Valkey waits for the sidecar. */
  conf: '/run/valkey/valkey.conf',
  socket: '/run/valkey/valkey.sock',
  /** Lives as long as the pod: survives restarts of both containers, and a data directory that is wiped in place. */
  podMemory: '/run/valkey/state.json',
  data: '/data',
  nodesConf: '/data/nodes.conf',
  /** Lives as long as the volume. */
  volumeMemory: '/data/.valkey-operator/state.json',
  settings: '/etc/valkey-operator/config/settings.json',
  certificates: '/etc/valkey-operator/certs',
  token: '/var/run/secrets/valkey-operator/token',
} as const;

/** Stated here and in the API's list of ports, which the sidecar does not import: its schema library costs memory in every pod. */
export const ports = { valkey: 6379, valkeyBus: 16379, grpc: 17369, http: 18369 } as const;
