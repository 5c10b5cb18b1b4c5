import { map, text } from '../schema/field.ts';
import { matches, type Rule } from '../schema/rule.ts';

const ownPrefixRefused: Rule = {
  rule: "self.all(key, !key.startsWith('valkey.io/'))",
  message: 'must not use keys of valkey.io/: the operator owns them',
};

/** The API server refuses an object with any other, and with that the whole object. */
export const keysQualified: Rule = {
  rule: "self.all(key, key.matches(r'^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$'))",
  message: 'must have keys such as team or example.com/team: letters, digits, "-", "_" and ".", at most 63 of them',
};

const labelValue = matches(
  '^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$',
  'must be a label value: letters, digits, "-", "_" and ".", and a letter or digit at both ends',
);

export const labels = map(
  'Labels added to every object of the deployment. Changing them restarts nothing.',
  text('Value of the label.', { max: 63, rules: [labelValue] }),
  { max: 64, rules: [ownPrefixRefused, keysQualified] },
);

export const annotations = map(
  'Annotations added to every object of the deployment. Changing them restarts nothing.',
  text('Value of the annotation.', { max: 4096 }),
  { max: 64, rules: [ownPrefixRefused, keysQualified] },
);
