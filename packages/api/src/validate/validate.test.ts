import { describe, expect, test } from 'vitest';
import { openApiSchema } from '../crd.ts';
import { readFixtures } from '../fixtures.ts';
import { allKinds, kindByName } from '../kinds/all-kinds.ts';
import type { StructuralSchema } from '../schema/structural.ts';
import { validate } from './validate.ts';

const kindOf = (name: string) => {
  const kind = kindByName(name);
  if (!kind) throw new Error(`no such kind: ${name}`);
  return kind;
};

describe.each(readFixtures('*/*.yaml'))('$name', ({ documents: [object] }) => {
  test('is accepted', () => {
    expect(validate(kindOf(object!.kind), object!)).toEqual([]);
  });
});

describe.each(readFixtures('*/accepted/*.yaml'))('$name', ({ documents: [before, after] }) => {
  test('is an accepted update', () => {
    expect(validate(kindOf(before!.kind), after!, before)).toEqual([]);
  });
});

describe.each(readFixtures('*/rejected/*.yaml'))('$name', ({ documents, expectedOffCluster }) => {
  test('is refused in the words of the API server', () => {
    const candidate = documents.at(-1)!;
    const previous = documents.length > 1 ? documents[0] : undefined;
    expect(validate(kindOf(candidate.kind), candidate, previous).toSorted()).toEqual(expectedOffCluster);
  });
});

describe('statuses', () => {
  const fixtures = readFixtures('*/full.yaml').filter(({ documents: [object] }) => object!.status);

  test.each(fixtures)('the status in $name fits its schema', ({ documents: [object] }) => {
    expect(kindOf(object!.kind).status.parse(object!.status)).toEqual(object!.status);
  });
});

describe('fixtures', () => {
  test.each(allKinds.map((kind) => kind.kind))('show a minimal and a full %s', (kind) => {
    expect(readFixtures(`${kind}/{minimal,full}.yaml`)).toHaveLength(2);
  });

  test('break every CEL rule at least once', () => {
    const expectations = readFixtures('*/rejected/*.yaml').flatMap((fixture) => fixture.expected);
    const messages = new Set(allKinds.flatMap((kind) => messagesOf(openApiSchema(kind))));
    const untested = [...messages].filter((message) => !expectations.some((text) => text.endsWith(message)));
    expect(untested).toEqual([]);
  });
});

function messagesOf(schema: StructuralSchema): string[] {
  const own = (schema['x-kubernetes-validations'] ?? []).map((rule) => rule.message);
  const children = [...Object.values(schema.properties ?? {}), schema.additionalProperties, schema.items];
  return [...own, ...children.flatMap((child) => (child ? messagesOf(child) : []))];
}
