import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { integer, list, map, object, text } from './field.ts';
import { quantity } from './quantity.ts';
import { toStructural } from './structural.ts';

describe('toStructural', () => {
  test('keeps documentation, bounds, rules and defaults, and drops what Kubernetes refuses', () => {
    const rule = { rule: 'self != ""', message: 'must not be empty' };
    const schema = object('An object.', {
      name: text('A name.', { max: 9, rules: [rule] }),
      count: integer('A count.', { min: 1 }).default(2),
    });
    expect(toStructural(schema)).toEqual({
      type: 'object',
      description: 'An object.',
      required: ['name'],
      properties: {
        name: { type: 'string', description: 'A name.', maxLength: 9, 'x-kubernetes-validations': [rule] },
        count: { type: 'integer', description: 'A count.', minimum: 1, default: 2 },
      },
    });
  });

  test('turns a bound with a reason into a rule that tells the reason', () => {
    expect(toStructural(integer('A count.', { min: 3, why: 'two cannot agree' }))).toEqual({
      type: 'integer',
      description: 'A count.',
      'x-kubernetes-validations': [{ rule: 'self >= 3', message: 'must be at least 3: two cannot agree' }],
    });
  });

  test('lets a quantity be a number or a text', () => {
    expect(toStructural(quantity('An amount.'))).toMatchObject({ 'x-kubernetes-int-or-string': true });
    expect(toStructural(quantity('An amount.'))).not.toHaveProperty('anyOf');
  });

  test('says how lists and maps merge and how large they get', () => {
    const item = object('An item.', { name: text('A name.') });
    expect(toStructural(list('Items.', item, { max: 3, key: 'name' }))).toMatchObject({
      maxItems: 3,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    });
    expect(toStructural(map('Texts.', text('A text.'), { max: 3 }))).toMatchObject({
      maxProperties: 3,
      additionalProperties: { type: 'string' },
    });
  });

  test('defaults nested objects whole', () => {
    const nested = object('Inner.', { on: z.boolean().meta({ description: 'On.' }).default(true) }).prefault({});
    expect(toStructural(nested)).toMatchObject({ default: {}, properties: { on: { default: true } } });
  });

  test.each([
    ['a union', z.union([z.string(), z.boolean()])],
    ['a nullable field', z.string().nullable()],
  ])('throws on %s, which no CRD can say', (_, schema) => {
    expect(() => toStructural(z.object({ field: schema }))).toThrow(/field: a structural schema has no/);
  });
});
