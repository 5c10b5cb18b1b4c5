import { connect } from 'node:tls';
import { once } from 'node:events';
import { secrets } from '@valkey-operator/kube';
import { Lab } from '@valkey-operator/lab';
import { issueSidecarCertificate } from '@valkey-operator/pki';
import { readCertificate } from '@valkey-operator/pki/verify';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createRestrictedNamespace, TestCluster } from '../support/test-cluster.ts';
import { Operators } from './support/operators.ts';
import {
  beat,
  createCaller,
  credentialsOfOperator,
  greet,
  readPair,
  requestToken,
  trustDomain,
} from './support/wire-caller.ts';

/** Certificates are replaced at their percentage, and nobody is cut off by that (E5). */
const namespace = 'certificates';
const name = 'sealed';
const lab = Lab.open(inject('lab'));
const { client } = await lab.api();
const operators = new Operators(lab, client);
const cluster = new TestCluster(lab, client, namespace, name);
const MINUTE_MS = 60_000;
/** The kubelet brings a Secret to its pods when it feels like it, within about a minute and a half. */
const DELIVERY = { timeout: 150_000, interval: 500 };
const POLL = { timeout: 60_000, interval: 250 };

beforeAll(async () => {
  await createRestrictedNamespace(lab, namespace);
  await cluster.apply({ replicasPerMaster: 0, operatorMtls: { clientCertValidity: '12h', rotateBeforePercent: 66 } });
  await cluster.waitUntilReady();
});
afterAll(() => lab.kubectl(['delete', 'namespace', namespace, '--wait=false']));

const readOwn = () => readPair(client, namespace, `${name}-sidecar-mtls`);
const thumbprintOf = (certificate: string) => readCertificate(certificate).thumbprint;

describe('the certificate of the sidecars', () => {
  test('is replaced at its percentage: streams go on, new ones use the new one, the old one is welcome for a while', async () => {
    const [pod] = await cluster.pods();
    const old = await readOwn();
    expect(await shownBy(pod!.status!.podIP!)).toBe(thumbprintOf(old.certificate));
    const { pod: leaderPod, epoch } = await operators.leader();
    const leader = await operators.get(leaderPod);
    const issued = () => operators.metric(leader, 'valkey_operator_actions_total', 'IssueSidecarCertificate');
    const issuedBefore = await issued();
    const operator = await credentialsOfOperator(client);
    await using stream = await greet(cluster, epoch, operator);

    // At more than four fifths of its life it is due, whatever the spread.
    const late = await putAged(0.81);
    const current = async () => thumbprintOf((await readOwn()).certificate);
    await expect.poll(current, POLL).not.toBe(late);
    const renewed = await current();
    expect(renewed).not.toBe(thumbprintOf(old.certificate));

    await expect.poll(() => shownBy(pod!.status!.podIP!), DELIVERY).toBe(renewed);
    expect(stream.isOpen()).toBe(true);
    await using another = await greet(cluster, epoch, operator);
    expect(another.isOpen()).toBe(true);
    expect(await issued()).toBe(issuedBefore + 1);

    const caller = await createCaller(cluster);
    const token = await requestToken(client, { namespace, name: `${name}-valkey` }, caller);
    await beat(leader.status!.podIP!, old, token, caller);
    await cluster.waitUntilReady();
  });
});

/** A certificate as old as its CA that has lived this share of its life, put where the present one is. */
async function putAged(share: number): Promise<string> {
  const ca = await readPair(client, namespace, `${name}-ca`);
  const { notBefore: now } = readCertificate(ca.certificate);
  // It begins a minute earlier than is asked for, as all do, for clocks that are behind.
  const lived = Date.now() - now.getTime() + MINUTE_MS;
  const validityMs = lived / share - MINUTE_MS;
  const leaf = await issueSidecarCertificate(ca, { trustDomain, namespace, cluster: name, now, validityMs });
  const encode = (text: string) => Buffer.from(text).toString('base64');
  const data = { 'tls.crt': encode(leaf.certificate), 'tls.key': encode(leaf.privateKey) };
  await client.mergePatch(secrets, { namespace, name: `${name}-sidecar-mtls` }, { data });
  return thumbprintOf(leaf.certificate);
}

/** The certificate that a sidecar shows to who connects now. */
async function shownBy(host: string): Promise<string> {
  const socket = connect({ host, port: 17_369, rejectUnauthorized: false, ALPNProtocols: ['h2'] });
  try {
    await once(socket, 'secureConnect');
    return readCertificate(socket.getPeerX509Certificate()!).thumbprint;
  } finally {
    socket.destroy();
  }
}
