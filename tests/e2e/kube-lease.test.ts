import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { leases } from '@valkey-operator/kube';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openWorkspace } from './support/kube-workspace.ts';

const { namespace, client } = await openWorkspace('kube-lease');

const PATIENCE = { timeout: 30_000 };

describe('a lease', () => {
  interface Candidate {
    process: ChildProcess;
    lines: string[];
  }

  function candidate(identity: string): Candidate {
    const script = join(import.meta.dirname, 'support/lease-candidate.ts');
    const child = spawn(process.execPath, [script, namespace, 'operator', identity], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines: string[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
    onTestFinished(() => {
      child.kill('SIGKILL');
    });
    return { process: child, lines };
  }

  async function holder(): Promise<string | undefined> {
    return (await client.get(leases, { namespace, name: 'operator' }))?.spec?.holderIdentity;
  }

  const epochOf = (line: string | undefined): number => Number(line?.split(' ')[1]);

  test('passes on from a frozen, a stopped and a killed leader, each time with a greater epoch', async () => {
    const a = candidate('a');
    await expect.poll(() => a.lines, PATIENCE).toHaveLength(1);
    const b = candidate('b');

    a.process.kill('SIGSTOP');
    await expect.poll(() => b.lines, PATIENCE).toHaveLength(1);
    a.process.kill('SIGCONT');
    await expect.poll(() => a.lines, PATIENCE).toEqual([a.lines[0], a.lines[0]?.replace('leads', 'ends')]);
    expect(await holder()).toBe('b');

    b.process.kill('SIGTERM');
    await once(b.process, 'exit');
    expect(b.lines.at(-1)).toMatch(/^ends/);
    // Given back, so the other need not wait for it to run out.
    await expect.poll(() => a.lines, { timeout: 2_000 }).toHaveLength(3);

    const c = candidate('c');
    a.process.kill('SIGKILL');
    await expect.poll(() => c.lines, PATIENCE).toHaveLength(1);
    const epochs = [a.lines[0], b.lines[0], a.lines[2], c.lines[0]].map(epochOf);
    expect(epochs).toEqual([0, 1, 2, 3].map((later) => epochOf(a.lines[0]) + later));
  });
});
