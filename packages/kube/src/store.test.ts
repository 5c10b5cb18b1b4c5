import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { byController, byLabel } from './indexers.ts';
import type { KubeObject, Live } from './object.ts';
import { type Change, Store } from './store.ts';

interface Facts {
  name?: string;
  namespace?: string;
  uid?: string;
  version?: string;
  team?: string;
}

function thing({ name = 'a', namespace = 'default', uid = 'u1', version = '1', team }: Facts = {}): Live {
  const metadata = { name, namespace, uid, resourceVersion: version, ...(team && { labels: { team } }) };
  return { apiVersion: 'v1', kind: 'Thing', metadata };
}

function summary(changes: Change<KubeObject>[]): string[] {
  return changes.map(({ type, object }) => `${type} ${object.metadata.uid}`);
}

describe('a store', () => {
  test('tells added, modified and nothing apart by uid and version', () => {
    const store = new Store({});
    expect(summary(store.put(thing()))).toEqual(['added u1']);
    expect(summary(store.put(thing()))).toEqual([]);
    expect(summary(store.put(thing({ version: '2' })))).toEqual(['modified u1']);
  });

  test('shows delete and re-create under one name as deleted and added', () => {
    const store = new Store({});
    store.put(thing());
    expect(summary(store.put(thing({ uid: 'u2', version: '9' })))).toEqual(['deleted u1', 'added u2']);
  });

  test('ignores news of the end of an older namesake', () => {
    const store = new Store({});
    store.put(thing({ uid: 'u2' }));
    expect(store.remove(thing({ uid: 'u1' }))).toEqual([]);
    expect(store.get({ namespace: 'default', name: 'a' })?.metadata.uid).toBe('u2');
  });

  test('replaces only what is in the namespace that was listed', () => {
    const store = new Store({});
    store.put(thing({ namespace: 'one' }));
    store.put(thing({ namespace: 'two', uid: 'u2' }));
    expect(summary(store.replace([], 'one'))).toEqual(['deleted u1']);
    expect(store.list().map((object) => object.metadata.namespace)).toEqual(['two']);
  });

  test('finds objects by their controller', () => {
    const store = new Store<KubeObject, 'owner'>({ owner: byController });
    const owned = thing();
    owned.metadata.ownerReferences = [{ apiVersion: 'v1', kind: 'Boss', name: 'b', uid: 'boss', controller: true }];
    store.put(owned);
    expect(store.byIndex('owner', 'boss')).toEqual([owned]);
    expect(store.byIndex('owner', 'other')).toEqual([]);
  });

  test('after any history holds what a plain map would, and its index agrees', () => {
    const facts = fc.record({
      name: fc.constantFrom('a', 'b', 'c'),
      namespace: fc.constantFrom('one', 'two'),
      uid: fc.constantFrom('u1', 'u2'),
      version: fc.constantFrom('1', '2', '3'),
      team: fc.option(fc.constantFrom('x', 'y'), { nil: undefined }),
    });
    const step = fc.oneof(
      fc.record({ do: fc.constant('put' as const), facts }),
      fc.record({ do: fc.constant('remove' as const), facts }),
      fc.record({ do: fc.constant('replace' as const), all: fc.array(facts) }),
    );
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const store = new Store<KubeObject, 'team'>({ team: byLabel('team') });
        // Rebuilt from the changes alone: who only listens knows what the store knows.
        const heard = new Map<string, Live>();
        for (const each of steps) {
          const changes =
            each.do === 'replace' ? store.replace(each.all.map(thing)) : store[each.do](thing(each.facts));
          for (const { type, object } of changes) {
            const key = `${object.metadata.namespace}/${object.metadata.name}`;
            if (type === 'deleted') expect(heard.delete(key)).toBe(true);
            else heard.set(key, object);
          }
          expect(new Set(store.list())).toEqual(new Set(heard.values()));
          for (const team of ['x', 'y']) {
            const expected = store.list().filter((object) => object.metadata.labels?.['team'] === team);
            expect(new Set(store.byIndex('team', team))).toEqual(new Set(expected));
          }
        }
      }),
    );
  });
});
