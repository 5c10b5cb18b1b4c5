import { sampleSpec, type TestCluster } from '../../support/test-cluster.ts';

export type Spec = Parameters<TestCluster['apply']>[0];

export const memory = (mebibytes: number) => ({ requests: { memory: `${mebibytes}Mi` }, limits: { memory: '512Mi' } });
export const image = (tag: string) => ({ valkeyImage: { ...sampleSpec.valkeyImage!, tag } });
export const size = (masterCount: number, replicasPerMaster: number) => ({ masterCount, replicasPerMaster });
export const usualSize = size(3, 1);
/** Without what an operation before may have asked for. */
export const usual = { ...image('9.1'), ...usualSize, rebalancePrimaries: false, services: undefined };

/** The specs that one cluster gets in the course of all operations. */
export class CrashSpec {
  readonly #cluster: TestCluster;
  #spec: Spec = {
    ...usual,
    allowDowngrade: true,
    pvc: { storageSize: '50Mi' },
    deletionPolicy: 'Delete',
    resources: memory(128),
  };

  constructor(cluster: TestCluster) {
    this.#cluster = cluster;
  }

  async change(part: Spec, annotations?: Record<string, string>): Promise<void> {
    this.#spec = { ...this.#spec, ...part };
    await this.#cluster.apply(this.#spec, annotations);
  }

  /** To the other of two versions. */
  async changeVersion(): Promise<void> {
    await this.change(image(this.tag === '9.1' ? '8.1' : '9.1'));
  }

  get tag(): string {
    return this.#spec.valkeyImage!.tag!;
  }

  async configure(name: string, value: string): Promise<void> {
    await this.change({ config: { ...this.#spec.config, [name]: value } });
  }
}
