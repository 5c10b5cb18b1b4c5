/** Every object of a cluster, by what it is for. The API limits a cluster's name so that all of these stay valid. */
export function childNames(cluster: string) {
  return {
    statefulSet: cluster,
    clientService: cluster,
    readService: `${cluster}-read`,
    externalService: (ordinal: number) => `${cluster}-${ordinal}-external`,
    exporterService: `${cluster}-exporter`,
    headlessService: `${cluster}-headless`,
    configMap: `${cluster}-config`,
    disruptionBudget: cluster,
    serviceAccount: `${cluster}-valkey`,
    networkPolicy: `${cluster}-valkey`,
    intermediateSecret: `${cluster}-ca`,
    sidecarSecret: `${cluster}-sidecar-mtls`,
    status: `${cluster}-status`,
    trial: `${cluster}-trial`,
    imageTrial: `${cluster}-image-trial`,
    pod: (ordinal: number) => `${cluster}-${ordinal}`,
    claim: (ordinal: number) => `data-${cluster}-${ordinal}`,
  };
}
