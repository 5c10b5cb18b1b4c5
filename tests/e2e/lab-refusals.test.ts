import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { runLabCli, type CliOptions } from './support/lab-cli.ts';
import { listTraces } from './support/traces.ts';

/** What cannot work is refused with a message and a way out, and leaves nothing behind. */
const NAME = 'refused';
const UP = ['up', '--name', NAME, '--nodes', '1'];

async function refusal(args: readonly string[], options: CliOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await runLabCli(args, options);
  expect({ code, stdout, stderr }).toMatchObject({ code: 1, stdout: '' });
  expect(stderr).toMatch(/\n +what to do: \S.*\n/);
  expect(stderr).not.toContain('    at '); // a stack is for a bug, not for a person
  return stderr;
}

afterEach(() => {
  expect(listTraces(NAME)).toEqual([]);
});

describe('who may make a lab', () => {
  /** Nobody, but able to read the project wherever it lies. */
  const nobody = ['setpriv', '--reuid=65534', '--inh-caps=+dac_read_search', '--ambient-caps=+dac_read_search'];

  test.each([['up'], ['down'], ['status'], ['images'], ['install'], ['playground'], ['playground-down']])(
    'lab %s is refused to others than root',
    async (command) => {
      expect(await refusal([command, '--name', NAME], { under: nobody })).toMatch(/needs root.*\n.*what to do: .*sudo/);
    },
  );

  test('root without the power to make namespaces is told what it lacks', async () => {
    const under = ['setpriv', '--bounding-set=-sys_admin'];
    expect(await refusal(UP, { under })).toMatch(/root lacks CAP_SYS_ADMIN.*\n.*privileged container/);
  });
});

describe('a machine that is not fit for a lab', () => {
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'no-tools-'));
  });
  afterAll(() => rmSync(dir, { recursive: true }));

  test('without its tools, and without a way to install them, is told which packages to bring', async () => {
    const said = await refusal(UP, { env: { PATH: dir } });
    expect(said).toMatch(/missing on this machine: .*containerd/);
    expect(said).toMatch(/what to do: install what Debian calls .*containerd.* with your package manager/);
  });

  test('whose package manager fails is shown what it said', async () => {
    writeFileSync(join(dir, 'apt-get'), '#!/bin/sh\necho "E: Unable to fetch some archives" >&2\nexit 100\n', {
      mode: 0o755,
    });
    const said = await refusal(UP, { env: { PATH: dir } });
    expect(said).toMatch(/missing on this machine: .*installing them failed: .*exit code 100: E: Unable to fetch/);
    expect(said).toMatch(/what to do: run: apt-get update && apt-get install .*containerd/);
  });

  test('whose disk is full is told how much is needed', async () => {
    const script = 'mkdir -p /var/lib/valkey-lab; mount -t tmpfs -o size=64m tmpfs /var/lib/valkey-lab; exec "$@"';
    const said = await refusal(UP, { under: ['unshare', '--mount', 'sh', '-ec', script, 'sh'] });
    expect(said).toMatch(/\/var\/lib\/valkey-lab has 0\.1 GiB free, a lab needs 3\.0 GiB/);
  });

  test('whose address ranges are all in use is told which they are', async () => {
    const routes = 'for net in $(seq 200 215); do ip route add blackhole 10.$net.0.0/16; done; exec "$@"';
    const said = await refusal(UP, { under: ['unshare', '--net', 'sh', '-ec', routes, 'sh'] });
    expect(said).toMatch(/all 16 address ranges for labs \(10\.200\.0\.0 - 10\.247\.255\.255\) are taken/);
  });
});

describe('a command that makes no sense', () => {
  test.each([
    [['up', '--name', 'Not_A_Name'], 'lab name "Not_A_Name" must be 1-20 lower-case letters'],
    [['up', '--name', '../etc'], 'lab name "../etc" must be'],
    [['down', '--name', '../etc'], 'lab name "../etc" must be'],
    [['status', '--name', ''], 'lab name "" must be'],
    [[...UP.slice(0, 3), '--nodes', 'three'], 'a lab must have 1 to 50 nodes, not "three"'],
    [[...UP.slice(0, 3), '--nodes', '51'], 'a lab must have 1 to 50 nodes, not 51'],
    [['playground', '--valkey', '7.2'], '--valkey 7.2 must be one of 8.0, 8.1, 9.1'],
    [['images', '--name', NAME], `there is no lab "${NAME}" on this machine`],
    [['install', '--name', NAME], `there is no lab "${NAME}" on this machine`],
    [['destroy'], 'there is no command "destroy"'],
    [['up', '--size=3'], "Unknown option '--size'"],
  ])('%j is refused', async (args, message) => {
    expect(await refusal(args)).toContain(message);
  });

  test('asking for the status of a lab that is not there is answered, with exit code 1', async () => {
    const { code, stdout } = await runLabCli(['status', '--name', NAME]);
    expect(code).toBe(1);
    expect(stdout).toContain(`✗ there is no lab "${NAME}"\n    what to do: make lab-up NAME=${NAME}`);
  });
});
