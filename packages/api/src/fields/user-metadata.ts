import { map, text } from '../schema/field.ts';
import type { Rule } from '../schema/rule.ts';

const ownPrefixRefused: Rule = {
  rule: "self.all(key, !key.startsWith('valkey.io/'))",
  message: 'must not use keys of valkey.io/: the operator owns them',
};

export const labels = map(
  'Labels added to every object of the deployment. Changing them restarts nothing.',
  text('Value of the label.', { max: 63 }),
  { max: 64, rules: [ownPrefixRefused] },
);

export const annotations = map(
  'Annotations added to every object of the deployment. Changing them restarts nothing.',
  text('Value of the annotation.', { max: 4096 }),
  { max: 64, rules: [ownPrefixRefused] },
);
