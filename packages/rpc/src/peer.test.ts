import { readCertificate } from '@valkey-operator/pki/verify';
import { beforeAll, describe, expect, it } from 'vitest';

import { identifyPeer } from './peer.ts';
import { Installation } from './testing/installation.ts';

let home: Installation;
beforeAll(async () => {
  home = await Installation.create();
});

const everybody = { admits: () => true };

describe('an identity', () => {
  it('is worth what its CA may vouch for: the key of one cluster’s CA makes nobody else', async () => {
    const operator = readCertificate((await home.operator()).certificate);
    const sidecar = readCertificate((await home.sidecar({ cluster: 'other' })).certificate);
    const { issuer } = readCertificate((await home.sidecar()).certificate);
    for (const certificate of [operator, sidecar]) {
      const peer = { address: '10.0.0.1', certificate };
      expect(identifyPeer(peer, everybody, new Date())).toHaveProperty('id');
      const forged = { ...peer, certificate: { ...certificate, issuer } };
      expect(identifyPeer(forged, everybody, new Date())).toMatchObject({ refusal: { reason: 'WrongIdentity' } });
    }
  });

  it('is one: a certificate with two is nobody’s', async () => {
    const certificate = readCertificate((await home.operator()).certificate);
    const twofold = { ...certificate, uris: [...certificate.uris, 'spiffe://valkey.test/other'] };
    const verdict = identifyPeer({ address: '10.0.0.1', certificate: twofold }, everybody, new Date());
    expect(verdict).toMatchObject({ refusal: { reason: 'WrongIdentity' } });
  });
});
