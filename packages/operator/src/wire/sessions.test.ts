import { CommandExecutor, createSidecarServer, done } from '@valkey-operator/rpc/sidecar';
import { CredentialHolder } from '@valkey-operator/rpc/operator';
import type { NodeReport } from '@valkey-operator/rpc';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { aReport, namespace, quietLog } from '../testing/builders.ts';
import { Certificates, trustDomain } from '../testing/certificates.ts';
import { Sessions } from './sessions.ts';
import type { SidecarAddress, SidecarLinkOptions } from './sidecar-link.ts';

let certificates: Certificates;
beforeAll(async () => {
  certificates = await Certificates.create();
});

const demo: SidecarAddress = { namespace, cluster: 'demo', pod: 'demo-0', podUid: 'demo-0-uid', ip: '127.0.0.1' };

/** A real sidecar on this machine, of the cluster `demo`. */
async function aSidecar({ port = 0, cluster = 'demo' } = {}) {
  const executor = new CommandExecutor({
    handlers: { reset: { run: async () => done() } },
    checkGuard: async () => undefined,
  });
  const listeners = new Set<(report: NodeReport) => void>();
  const server = createSidecarServer({
    credentials: new CredentialHolder(await certificates.sidecar(cluster)),
    trustDomain,
    executor,
    reports: {
      read: async () => aReport(),
      subscribe: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    onRefused: () => {},
  });
  const address = await server.listen(port, '127.0.0.1');
  onTestFinished(() => server.close());
  return { port: address.port, executor, listeners, close: () => server.close() };
}

async function sessionsTo(port: number, overrides: Partial<SidecarLinkOptions> = {}) {
  const heard: string[] = [];
  const sessions = new Sessions({
    credentials: new CredentialHolder(await certificates.operator()),
    trustDomain,
    leaderEpoch: 7n,
    operatorVersion: 'test',
    port,
    onReport: (report, { pod }) => heard.push(`report ${report.sequence} of ${pod}`),
    onChange: ({ pod }) => heard.push(`change of ${pod}`),
    onStale: (epoch) => heard.push(`stale below ${epoch}`),
    onRefused: ({ reason }) => heard.push(`refused ${reason}`),
    log: quietLog,
    ...overrides,
  });
  onTestFinished(() => sessions.close());
  return { sessions, heard };
}

describe('sessions', () => {
  test('are held to the sidecars that are wanted, and pass on their reports', async () => {
    const sidecar = await aSidecar();
    const { sessions, heard } = await sessionsTo(sidecar.port);
    sessions.want(namespace, 'demo', [demo]);
    await expect.poll(() => sessions.find(demo.podUid)).toBeDefined();
    expect(heard).toEqual(['report 1 of demo-0', 'change of demo-0']);
    for (const tell of sidecar.listeners) tell(aReport({ sequence: 2n }));
    await expect.poll(() => heard).toContain('report 2 of demo-0');
    const { outcome } = await sessions
      .find(demo.podUid)!
      .send({ timeoutMs: 1000, guard: {}, payload: { case: 'reset', value: {} } });
    expect(outcome.case).toBe('done');
  });

  test('that are being opened are waited for, those that nobody wants are not', async () => {
    const sidecar = await aSidecar();
    const { sessions } = await sessionsTo(sidecar.port);
    sessions.want(namespace, 'demo', [demo]);
    expect(sessions.find(demo.podUid)).toBeUndefined();
    expect(await sessions.whenOpen(demo.podUid)).toBe(sessions.find(demo.podUid));
    expect(sessions.find(demo.podUid)).toBeDefined();
    expect(await sessions.whenOpen('another')).toBeUndefined();
  });

  test('end when they are no longer wanted, and leave those of other clusters alone', async () => {
    const sidecar = await aSidecar();
    const { sessions } = await sessionsTo(sidecar.port);
    sessions.want(namespace, 'demo', [demo]);
    await expect.poll(() => sessions.find(demo.podUid)).toBeDefined();
    sessions.want(namespace, 'other', []);
    sessions.want('elsewhere', 'demo', []);
    expect(sessions.size).toBe(1);
    sessions.want(namespace, 'demo', []);
    expect(sessions.find(demo.podUid)).toBeUndefined();
    await expect.poll(() => sidecar.listeners.size).toBe(0);
  });

  test('are opened as soon as a sidecar is heard of, without a wait for the next try', async () => {
    const first = await aSidecar();
    await first.close();
    const { sessions } = await sessionsTo(first.port);
    sessions.want(namespace, 'demo', [demo]);
    await aSidecar({ port: first.port });
    await expect
      .poll(() => {
        sessions.heardOf(demo.podUid);
        return sessions.find(demo.podUid);
      })
      .toBeDefined();
  });

  test('are opened again when a sidecar has restarted', async () => {
    const before = await aSidecar();
    const { sessions, heard } = await sessionsTo(before.port);
    sessions.want(namespace, 'demo', [demo]);
    await expect.poll(() => heard).toHaveLength(2);
    await before.close();
    await expect.poll(() => sessions.find(demo.podUid)).toBeUndefined();
    await aSidecar({ port: before.port });
    await expect.poll(() => sessions.find(demo.podUid), { timeout: 10_000 }).toBeDefined();
  });

  test('are not opened to a sidecar of another cluster that has got the address', async () => {
    const stranger = await aSidecar({ cluster: 'other' });
    const { sessions, heard } = await sessionsTo(stranger.port);
    sessions.want(namespace, 'demo', [demo]);
    await expect.poll(() => heard).toContain('refused WrongIdentity');
    expect(sessions.find(demo.podUid)).toBeUndefined();
  });

  test('tell of a sidecar that has seen a later leader', async () => {
    const sidecar = await aSidecar();
    sidecar.executor.observeEpoch(9n);
    const { sessions, heard } = await sessionsTo(sidecar.port);
    sessions.want(namespace, 'demo', [demo]);
    await expect.poll(() => heard).toContain('stale below 9');
    expect(sessions.find(demo.podUid)).toBeUndefined();
  });

  test('move with a pod that has got another address', async () => {
    const sidecar = await aSidecar();
    const { sessions } = await sessionsTo(sidecar.port);
    sessions.want(namespace, 'demo', [{ ...demo, ip: '127.0.0.9' }]);
    sessions.want(namespace, 'demo', [demo]);
    expect(sessions.size).toBe(1);
    await expect.poll(() => sessions.find(demo.podUid)).toBeDefined();
  });

  test('are never opened again once the term is over', async () => {
    const sidecar = await aSidecar();
    const { sessions } = await sessionsTo(sidecar.port);
    sessions.want(namespace, 'demo', [demo]);
    sessions.close();
    sessions.want(namespace, 'demo', [demo]);
    expect(sessions.size).toBe(0);
  });
});
