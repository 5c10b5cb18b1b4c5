import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSigningKeys, LabAuthority, type KeyPair } from './certificates.ts';
import type { LabLayout } from './layout.ts';
import { writeKubeconfig } from './kubeconfig.ts';
import type { ComponentSpec } from './processes.ts';

const API_PORT = 6443;
const ETCD = 'http://127.0.0.1:2379';
/**
 * Kubernetes waits 50 s before it calls a silent node unreachable and five more minutes before it evicts its pods. The
 * same machinery runs here with shorter waits, so that a test of a dead node does not take six minutes.
 */
const NODE_GRACE = '16s';
const EVICTION_AFTER_SECONDS = 20;

export function apiServerUrl(lab: LabLayout): string {
  return `https://${lab.controlPlaneAddress}:${API_PORT}`;
}

/** Write certificates, keys and kubeconfigs of the control plane. */
export async function prepareControlPlane(lab: LabLayout): Promise<LabAuthority> {
  const pki = join(lab.dir, 'pki');
  mkdirSync(pki, { recursive: true, mode: 0o700 });
  mkdirSync(join(lab.dir, 'logs'), { recursive: true });
  const { authority, key } = await LabAuthority.create(lab.name);
  writeFileSync(join(pki, 'ca.crt'), authority.cert);
  writeFileSync(join(pki, 'ca.key'), key, { mode: 0o600 });
  const signing = createSigningKeys();
  writeFileSync(join(pki, 'sa.key'), signing.privateKey, { mode: 0o600 });
  writeFileSync(join(pki, 'sa.pub'), signing.publicKey);
  const firstServiceAddress = lab.serviceCidr.replace(/\.0\.0\/16$/, '.0.1');
  const serving = [
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster.local',
  ];
  writePair(
    join(pki, 'apiserver'),
    await authority.issue('kube-apiserver', {
      group: 'system:masters',
      addresses: [...serving, 'localhost', '127.0.0.1', lab.controlPlaneAddress, firstServiceAddress],
    }),
  );
  const users = {
    [lab.kubeconfig]: await authority.issue('admin', { group: 'system:masters' }),
    [join(lab.dir, 'controller-manager.kubeconfig')]: await authority.issue('system:kube-controller-manager'),
    [join(lab.dir, 'scheduler.kubeconfig')]: await authority.issue('system:kube-scheduler'),
    [join(lab.dir, 'kube-proxy.kubeconfig')]: await authority.issue('system:kube-proxy'),
  };
  for (const [file, pair] of Object.entries(users)) writeKubeconfig(file, lab, apiServerUrl(lab), authority.cert, pair);
  return authority;
}

/** The authority of a lab that runs already, to issue certificates for more nodes. */
export function loadAuthority(lab: LabLayout): Promise<LabAuthority> {
  const pki = (file: string) => readFileSync(join(lab.dir, 'pki', file), 'utf8');
  return LabAuthority.load(pki('ca.crt'), pki('ca.key'));
}

/** The four programs of the control plane, in the order in which they are started. */
export function controlPlaneComponents(lab: LabLayout, binaries: string): ComponentSpec[] {
  const pki = (file: string) => join(lab.dir, 'pki', file);
  const component = (name: string, args: string[]): ComponentSpec => ({
    name,
    netns: lab.switchNetns,
    argv: [join(binaries, name), ...args],
    log: join(lab.dir, 'logs', `${name}.log`),
    cgroup: `${lab.cgroup}/system`,
  });
  return [
    component('etcd', [
      `--data-dir=${join(lab.dir, 'etcd')}`,
      `--listen-client-urls=${ETCD}`,
      `--advertise-client-urls=${ETCD}`,
      '--listen-peer-urls=http://127.0.0.1:2380',
      // A lab that loses power is thrown away; fsync would only slow down every write of every test.
      '--unsafe-no-fsync',
      '--log-level=warn',
    ]),
    component('kube-apiserver', [
      `--etcd-servers=${ETCD}`,
      `--advertise-address=${lab.controlPlaneAddress}`,
      `--secure-port=${API_PORT}`,
      `--service-cluster-ip-range=${lab.serviceCidr}`,
      '--authorization-mode=Node,RBAC',
      '--enable-admission-plugins=NodeRestriction',
      `--client-ca-file=${pki('ca.crt')}`,
      `--tls-cert-file=${pki('apiserver.crt')}`,
      `--tls-private-key-file=${pki('apiserver.key')}`,
      `--kubelet-client-certificate=${pki('apiserver.crt')}`,
      `--kubelet-client-key=${pki('apiserver.key')}`,
      '--kubelet-preferred-address-types=InternalIP',
      `--service-account-issuer=https://kubernetes.default.svc`,
      `--service-account-key-file=${pki('sa.pub')}`,
      `--service-account-signing-key-file=${pki('sa.key')}`,
      `--cert-dir=${join(lab.dir, 'apiserver')}`,
      // Webhooks are called at their pods: there is no kube-proxy beside the API server to translate Service addresses.
      '--enable-aggregator-routing=true',
      '--allow-privileged=true',
      `--default-not-ready-toleration-seconds=${EVICTION_AFTER_SECONDS}`,
      `--default-unreachable-toleration-seconds=${EVICTION_AFTER_SECONDS}`,
    ]),
    component('kube-controller-manager', [
      `--kubeconfig=${join(lab.dir, 'controller-manager.kubeconfig')}`,
      `--authentication-kubeconfig=${join(lab.dir, 'controller-manager.kubeconfig')}`,
      `--authorization-kubeconfig=${join(lab.dir, 'controller-manager.kubeconfig')}`,
      `--cert-dir=${join(lab.dir, 'controller-manager')}`,
      `--root-ca-file=${pki('ca.crt')}`,
      `--service-account-private-key-file=${pki('sa.key')}`,
      `--cluster-signing-cert-file=${pki('ca.crt')}`,
      `--cluster-signing-key-file=${pki('ca.key')}`,
      '--use-service-account-credentials=true',
      '--leader-elect=false',
      '--node-monitor-period=2s',
      `--node-monitor-grace-period=${NODE_GRACE}`,
      '--kube-api-qps=200',
      '--kube-api-burst=400',
    ]),
    component('kube-scheduler', [
      `--kubeconfig=${join(lab.dir, 'scheduler.kubeconfig')}`,
      `--authentication-kubeconfig=${join(lab.dir, 'scheduler.kubeconfig')}`,
      `--authorization-kubeconfig=${join(lab.dir, 'scheduler.kubeconfig')}`,
      `--cert-dir=${join(lab.dir, 'scheduler')}`,
      '--leader-elect=false',
    ]),
  ];
}

function writePair(base: string, pair: KeyPair): void {
  writeFileSync(`${base}.crt`, pair.cert);
  writeFileSync(`${base}.key`, pair.key, { mode: 0o600 });
}
