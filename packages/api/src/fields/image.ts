import { z } from 'zod';
import { choice, list, object, text } from '../schema/field.ts';
import { objectName } from '../schema/name.ts';
import { matches } from '../schema/rule.ts';

const tagAdvice = 'must be a string: put it in quotes ("8.1"), because YAML reads an unquoted 8.10 as the number 8.1';

// The API server refuses a number by its type, before any CEL rule could explain why; so the advice is also in the
// documentation of the field, which `kubectl explain` shows.
const tag = z
  .string({ error: tagAdvice })
  .max(128)
  .meta({
    description:
      'Tag of the image, always in quotes: YAML reads an unquoted 8.10 as the number 8.1, so numbers are refused. ' +
      'A digest may follow the tag: "9.1@sha256:...".',
    'x-kubernetes-validations': [
      matches(
        '^[A-Za-z0-9_][-A-Za-z0-9_.]*(@sha256:[0-9a-f]{64})?$',
        'must be an image tag such as "9.1" or "v1.86.0"',
      ),
    ],
  });

export function image(description: string) {
  return object(description, {
    name: text('Repository of the image, without a tag.', {
      rules: [
        matches('^[^:@ ]+(:[0-9]+/[^:@ ]+)?$', 'must be a repository without a tag: put the tag into the field "tag"'),
      ],
    }).optional(),
    tag: tag.optional(),
    pullPolicy: choice('When the kubelet pulls the image.', ['Always', 'IfNotPresent', 'Never']).optional(),
    imagePullSecrets: list(
      'Secrets with the credentials of the registry.',
      object('A reference to a Secret.', { name: objectName('Name of the Secret.') }),
      { max: 16, key: 'name' },
    ).optional(),
  });
}
