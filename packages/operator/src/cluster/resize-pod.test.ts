import { KubeClient } from '@valkey-operator/kube';
import { FakeApi, json } from '@valkey-operator/kube/testing';
import { describe, expect, test } from 'vitest';
import { resizePod } from './resize-pod.ts';

const resources = { limits: { memory: '1Gi' } };
const template = 'valkey=a resources=b';
const action = { type: 'ResizePod', pod: 'demo-0', uid: 'u', resources, template, reason: 'PodResized' } as const;

/** An API server that answers the resize as told; what is written besides. */
async function resize(status: number, reason = ''): Promise<{ asked: unknown; noted: unknown }> {
  const api = new FakeApi();
  const bodies: Record<string, unknown> = {};
  api.intercept = ({ path, body }) => {
    const isResize = path.split('?')[0]!.endsWith('/resize');
    bodies[isResize ? 'asked' : 'noted'] = JSON.parse(body ?? '');
    const failure = { kind: 'Status', status: 'Failure', code: status, reason, message: 'requests cannot be removed' };
    return isResize ? json(status, failure) : json(200, {});
  };
  await resizePod(new KubeClient({ transport: api.transport }), 'apps', action);
  return { asked: bodies['asked'], noted: bodies['noted'] };
}

describe('a resize', () => {
  test('is asked for only of the pod that was meant, which then says what it is made of', async () => {
    const { asked, noted } = await resize(200);
    expect(asked).toEqual([
      { op: 'test', path: '/metadata/uid', value: 'u' },
      { op: 'test', path: '/spec/containers/0/name', value: 'valkey' },
      { op: 'replace', path: '/spec/containers/0/resources', value: resources },
    ]);
    expect(noted).toEqual({ metadata: { uid: 'u', annotations: { 'valkey.io/template': template } } });
  });

  test.each([
    [422, 'Invalid'],
    [403, 'Forbidden'],
    [404, 'NotFound'],
  ])(
    'that is refused with %i %s is noted on the pod with the words of the API server: it will be replaced',
    async (status, reason) => {
      const { noted } = await resize(status, reason);
      const refusal = { 'valkey.io/resize-refused': 'b requests cannot be removed' };
      expect(noted).toEqual({ metadata: { uid: 'u', annotations: refusal } });
    },
  );
});
