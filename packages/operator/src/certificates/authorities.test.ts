import { KubeClient, type Secret } from '@valkey-operator/kube';
import { FakeApi } from '@valkey-operator/kube/testing';
import { readCertificate, validateCredentials } from '@valkey-operator/pki/verify';
import { describe, expect, test } from 'vitest';
import { aCluster, effectiveSpec, namespace } from '../testing/builders.ts';
import { trustDomain } from '../testing/certificates.ts';
import { Authorities } from './authorities.ts';
import { keepCertificates, readAuthority, readPem } from './certificate-secret.ts';
import { viewCertificate } from './certificate-view.ts';
import { ROOT_SECRET } from './root-authority.ts';

const ROOT_PATH = `/api/v1/namespaces/ops/secrets/${ROOT_SECRET}`;
const SECRETS = `/api/v1/namespaces/${namespace}/secrets`;
const OURS = `/apis/valkey.io/v1alpha1/namespaces/${namespace}`;
const owner = { metadata: aCluster().metadata, spec: effectiveSpec };

async function load(api: FakeApi, now = () => new Date()) {
  const client = new KubeClient({ transport: api.transport });
  return { client, authorities: await Authorities.load({ client, namespace: 'ops', trustDomain, now }) };
}

function secretOf(api: FakeApi, name: string): Secret {
  return api.get(`${SECRETS}/${name}`) as unknown as Secret;
}

describe('the root', () => {
  test('is made at the first start, kept in a Secret, and shown to people without its key', async () => {
    const api = new FakeApi();
    const { authorities } = await load(api);
    expect(readAuthority(api.get(ROOT_PATH) as unknown as Secret)?.certificate).toBe(authorities.rootCertificate);
    const record = api.get('/apis/valkey.io/v1alpha1/namespaces/ops/valkeycas/valkey-root-ca');
    expect(record).toMatchObject({
      spec: { caCertSecretRef: ROOT_SECRET },
      status: { thumbprint: readCertificate(authorities.rootCertificate).thumbprint },
    });
    expect(JSON.stringify(record)).not.toContain('PRIVATE KEY');
  });

  test('is the same after a restart, which writes nothing', async () => {
    const api = new FakeApi();
    const first = await load(api);
    const before = api.requests.length;
    const second = await load(api);
    expect(second.authorities.rootCertificate).toBe(first.authorities.rootCertificate);
    expect(api.requests.slice(before).map(({ method }) => method)).toEqual(['GET', 'GET']);
  });

  test('is one and the same for two operators that start at once', async () => {
    const api = new FakeApi();
    const [a, b] = await Promise.all([load(api), load(api)]);
    expect(a.authorities.rootCertificate).toBe(b.authorities.rootCertificate);
  });

  test('is never replaced when its Secret holds something else', async () => {
    const api = new FakeApi();
    api.put(ROOT_PATH, { kind: 'Secret', data: {} });
    await expect(load(api)).rejects.toThrow('holds no certificate authority');
  });
});

describe('certificates', () => {
  test('of the operator prove to sidecars who it is', async () => {
    const { authorities } = await load(new FakeApi());
    const verdict = validateCredentials(await authorities.issueOperatorCredentials(), {
      now: new Date(),
      purposes: ['server', 'client'],
      spiffeId: `spiffe://${trustDomain}/operator`,
      dnsNames: ['valkey-operator.ops.svc'],
    });
    expect(verdict).toMatchObject({ ok: true });
  });

  test('of a cluster come from its own CA and prove which cluster it is', async () => {
    const api = new FakeApi();
    const { client, authorities } = await load(api);
    await authorities.issueIntermediate(client, owner);
    await authorities.issueSidecarCertificate(client, owner);
    const secret = secretOf(api, 'demo-sidecar-mtls');
    const [certificate, privateKey, trustBundle] = (['tls.crt', 'tls.key', 'ca.crt'] as const).map((key) =>
      readPem(secret, key)!,
    );
    const verdict = validateCredentials(
      { certificate: certificate!, privateKey: privateKey!, trustBundle: trustBundle! },
      {
        now: new Date(),
        purposes: ['server', 'client'],
        spiffeId: `spiffe://${trustDomain}/ns/${namespace}/valkeycluster/demo/sidecar`,
      },
    );
    expect(verdict).toMatchObject({ ok: true });
    expect(secret.metadata.ownerReferences?.[0]?.uid).toBe('cluster-uid');
  });

  test('are recorded before they take effect, with the one they replace', async () => {
    const api = new FakeApi();
    const { client, authorities } = await load(api);
    await authorities.issueIntermediate(client, owner);
    await authorities.issueSidecarCertificate(client, owner);
    const first = readCertificate(readPem(secretOf(api, 'demo-sidecar-mtls'), 'tls.crt')!).thumbprint;
    const before = api.requests.length;
    await authorities.issueSidecarCertificate(client, owner);
    const second = readCertificate(readPem(secretOf(api, 'demo-sidecar-mtls'), 'tls.crt')!).thumbprint;
    expect(api.get(`${OURS}/valkeycertificatebindings/demo-sidecar-mtls`)).toMatchObject({
      spec: { clusterRef: 'demo', active: [{ thumbprint: second }], deprecated: [{ thumbprint: first }] },
    });
    expect(api.get(`${OURS}/valkeycertificatebundles/demo-ca`)).toMatchObject({
      spec: { caRef: 'valkey-root-ca', purpose: 'mtls', rotationPolicy: { renewBeforeDays: 124 } },
    });
    const written = api.requests.slice(before).filter(({ method }) => method === 'PATCH');
    expect(written.map(({ path }) => path.split('?')[0]!.split('/').at(-2))).toEqual([
      'valkeycertificatebindings',
      'secrets',
    ]);
  });

  test('of sidecars need the CA of their cluster', async () => {
    const { client, authorities } = await load(new FakeApi());
    await expect(authorities.issueSidecarCertificate(client, owner)).rejects.toThrow('demo-ca holds no certificate');
  });
});

describe('a certificate in a Secret', () => {
  const options = { rotateBeforePercent: 66, seed: 'x', now: new Date() };

  test('is seen with the time at which to replace it, its key is not kept', async () => {
    const api = new FakeApi();
    const { client, authorities } = await load(api);
    const secret = keepCertificates(await authorities.issueIntermediate(client, owner));
    expect(readPem(secret, 'tls.key')).toBeUndefined();
    const view = viewCertificate(secret, { ...options, root: authorities.rootCertificate })!;
    expect(view.secret).toBe('demo-ca');
    const share = (view.renewAt - view.notBefore) / (view.notAfter - view.notBefore);
    expect(share).toBeGreaterThanOrEqual(0.66);
    expect(share).toBeLessThanOrEqual(0.8);
  });

  test('is as good as none when another root made it, or when it cannot be read', async () => {
    const [ours, theirs] = await Promise.all([load(new FakeApi()), load(new FakeApi())]);
    const root = ours.authorities.rootCertificate;
    const foreign = await theirs.authorities.issueIntermediate(theirs.client, owner);
    expect(viewCertificate(foreign, { ...options, root })).toBeUndefined();
    const own = await ours.authorities.issueIntermediate(ours.client, owner);
    const broken = { ...own, data: { ...own.data, 'tls.crt': 'bm9uc2Vuc2U=' } };
    expect(viewCertificate(broken, { ...options, root })).toBeUndefined();
  });
});
