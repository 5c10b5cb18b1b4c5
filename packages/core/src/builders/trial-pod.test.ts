import { describe, expect, it } from 'vitest';
import { bear } from '../testing/settle.ts';
import { buildSettings } from './settings.ts';
import { buildTrialPod } from './trial-pod.ts';

type Selector = Readonly<Record<string, string>>;

/** Every set of labels by which something of the cluster finds its pods. */
function findSelectors(value: unknown): Selector[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]: [string, unknown]) => {
    const isSelector = key === 'matchLabels' || (key === 'selector' && !('matchLabels' in (part as object)));
    return isSelector ? [part as Selector] : findSelectors(part);
  });
}

describe('the pod on which settings are proven', () => {
  it('is found by nothing that looks for nodes, whatever labels the spec adds', () => {
    const labels = { 'app.kubernetes.io/name': 'valkey', 'app.kubernetes.io/instance': 'demo', team: 'shop' };
    const { cluster, spec, children } = bear({ spec: { labels } });
    const own = buildTrialPod(cluster, spec, buildSettings(spec)).metadata.labels ?? {};
    const selectors = [...findSelectors([...children.values()]), labels, { 'valkey.io/cr': 'demo' }];
    expect(selectors.length).toBeGreaterThan(6);
    const finds = (selector: Selector) => Object.entries(selector).every(([name, value]) => own[name] === value);
    expect(selectors.filter(finds)).toEqual([]);
    expect(own).not.toHaveProperty('team');
  });
});
