import { describe, expect, it } from 'vitest';
import { describeDifference, findDifferences } from './differences.ts';

const paths = (wanted: unknown, observed: unknown) => findDifferences(wanted, observed).map(({ path }) => path);

describe('findDifferences', () => {
  it('names the paths at which an object lacks what is wanted', () => {
    const wanted = { spec: { replicas: 6, template: { metadata: { labels: { app: 'valkey' } } } } };
    const observed = { spec: { replicas: 5, template: { metadata: { labels: { app: 'other' } } } } };
    expect(paths(wanted, observed)).toEqual(['spec.replicas', 'spec.template.metadata.labels.app']);
  });

  it('overlooks what the server and others have added', () => {
    const wanted = { spec: { containers: [{ name: 'valkey', env: [{ name: 'A', value: '1' }] }] } };
    const observed = {
      spec: {
        dnsPolicy: 'ClusterFirst',
        containers: [
          { name: 'injected' },
          { name: 'valkey', terminationMessagePath: '/dev/log', env: [{ name: 'B' }, { name: 'A', value: '1' }] },
        ],
      },
      status: {},
    };
    expect(paths(wanted, observed)).toEqual([]);
  });

  it('sees an element that is missing from or added to a list that is written as a whole', () => {
    expect(paths({ drop: ['ALL'] }, { drop: [] })).toEqual(['drop']);
    expect(paths({ ingress: [{ ports: [{ port: 1 }] }] }, { ingress: [{ ports: [{ port: 1 }] }, {}] })).toEqual([
      'ingress',
    ]);
  });

  it('takes quantities for what they mean', () => {
    expect(paths({ limits: { memory: '1024Mi' } }, { limits: { memory: '1Gi' } })).toEqual([]);
    expect(paths({ limits: { memory: '1024Mi' } }, { limits: { memory: '2Gi' } })).toEqual(['limits.memory']);
    expect(paths({ data: { text: '1024Mi' } }, { data: { text: '1Gi' } })).toEqual(['data.text']);
  });

  it('takes a zero value that the server leaves out for there', () => {
    expect(paths({ hostNetwork: false, emptyDir: {}, list: [] }, {})).toEqual([]);
  });

  it('says what is and what should be', () => {
    const differences = findDifferences({ spec: { replicas: 6, type: 'x' } }, { spec: { replicas: 9 } });
    expect(differences.map(describeDifference)).toEqual([
      'spec.replicas is 9, should be 6',
      'spec.type is missing, should be "x"',
    ]);
  });
});
