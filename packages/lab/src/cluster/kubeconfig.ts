import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';
import type { KeyPair } from './certificates.ts';
import type { LabLayout } from './layout.ts';

export function writeKubeconfig(file: string, lab: LabLayout, server: string, caCert: string, user: KeyPair): void {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const context = `valkey-lab-${lab.name}`;
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: context, cluster: { server, 'certificate-authority-data': base64(caCert) } }],
    users: [
      { name: context, user: { 'client-certificate-data': base64(user.cert), 'client-key-data': base64(user.key) } },
    ],
    contexts: [{ name: context, context: { cluster: context, user: context } }],
    'current-context': context,
  };
  writeFileSync(file, stringify(config), { mode: 0o600 });
}
