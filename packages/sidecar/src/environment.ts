import { type ValkeyVersion, versionOfImageTag } from '@valkey-operator/valkey';

/** What the pod template tells the sidecar of itself. */
export interface Environment {
  readonly pod: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly ip: string;
    readonly nodeName: string;
  };
  readonly cluster: string;
  /** The headless Service that gives each pod a name. */
  readonly service: string;
  /** host:port */
  readonly operatorAddress: string;
  readonly trustDomain: string;
  readonly graceMs: number;
  readonly version: string;
  /** Empty: not known. */
  readonly zone: string;
  /** Of the Valkey that this sidecar stands beside, as far as its image tells. */
  readonly valkeyVersion: ValkeyVersion | undefined;
}

export class EnvironmentError extends Error {
  override readonly name = 'EnvironmentError';
}

/** Fails with everything that is missing, not with the first of it. */
export function readEnvironment(variables: Readonly<Record<string, string | undefined>>): Environment {
  const missing: string[] = [];
  const read = (name: string): string => {
    const value = variables[name] ?? '';
    if (value === '') missing.push(name);
    return value;
  };
  const environment = {
    pod: {
      name: read('POD_NAME'),
      namespace: read('POD_NAMESPACE'),
      uid: read('POD_UID'),
      ip: read('POD_IP'),
      nodeName: read('NODE_NAME'),
    },
    cluster: read('VALKEY_CLUSTER'),
    service: read('VALKEY_SERVICE'),
    operatorAddress: read('OPERATOR_ADDRESS'),
    trustDomain: read('TRUST_DOMAIN'),
    graceMs: Number(read('TERMINATION_GRACE_SECONDS')) * 1000,
    version: read('VALKEY_OPERATOR_VERSION'),
    zone: variables['AVAILABILITY_ZONE'] ?? '',
    valkeyVersion: versionOfImageTag(variables['VALKEY_IMAGE']?.split('/').at(-1)?.split(':')[1] ?? ''),
  };
  if (missing.length > 0) throw new EnvironmentError(`missing in the environment: ${missing.join(', ')}`);
  if (!(environment.graceMs >= 0)) throw new EnvironmentError('TERMINATION_GRACE_SECONDS is not a number of seconds');
  return environment;
}
