import { expect, test } from 'vitest';
import { reasons } from './reasons.ts';

test.each(Object.entries(reasons))('%s is one CamelCase word and a sentence', (reason, { text }) => {
  expect(reason).toMatch(/^[A-Z][A-Za-z]+$/);
  expect(text).toMatch(/^[A-Z].*\.$/);
});
