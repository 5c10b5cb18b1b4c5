import { integer, object, text } from '../schema/field.ts';
import { objectName } from '../schema/name.ts';
import { exactlyOneOf, matches } from '../schema/rule.ts';

const secretRef = (description: string) => object(description, { name: objectName('Name of the Secret.') });

const relativePath = matches('^[^/.]([^/]|/[^/.])*$', 'must be a relative path without "." at the start of a part');

const s3 = object('An S3-compatible bucket.', {
  endpoint: text('Address of the service: https://s3.example.com. None: AWS.', {
    max: 512,
    rules: [matches('^https?://[^ ]+$', 'must be an http or https address')],
  }).optional(),
  bucket: text('Name of the bucket.', { max: 63 }),
  prefix: text('Folder inside the bucket.', { max: 512, rules: [relativePath] }).optional(),
  region: text('Region of the bucket.', { max: 64 }).optional(),
  credentialsSecretRef: secretRef(
    'Secret with accessKeyId and secretAccessKey; none: the identity of the pod.',
  ).optional(),
  caRef: secretRef('Secret with ca.crt, for a service with a private CA.').optional(),
});

const pvc = object('A volume in this namespace.', {
  claimName: objectName('The PersistentVolumeClaim.'),
  path: text('Folder on the volume.', { max: 512, rules: [relativePath] }).optional(),
});

/** Where backups are kept. */
export function backupStore(description: string) {
  return object(description, { s3: s3.optional(), pvc: pvc.optional() }, { rules: [exactlyOneOf(['s3', 'pvc'])] });
}

export const encryption = object('Encrypts every file before it leaves the pod.', {
  keySecretRef: secretRef('Secret with the key "key": 32 random bytes.'),
});

export const backedUpShard = object('The part of a backup that holds one shard.', {
  slots: text('Slots of the shard: 0-5460.', { max: 4096 }),
  file: text('Name of the file.', { max: 1024 }).optional(),
  bytes: integer('Size of the file.').optional(),
  sha256: text('Checksum of the file.', { max: 64 }).optional(),
  replicationOffset: integer('Position in the replication stream that the file stands for.').optional(),
});
