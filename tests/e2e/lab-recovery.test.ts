import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Lab, removeLab } from '@valkey-operator/lab';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runLabCli, startLabCli, type CliResult } from './support/lab-cli.ts';
import { listForeignState, listHostNetwork, listTraces } from './support/traces.ts';

/** Labs that die or never come to life: whatever happened, the next command leaves a whole lab, or nothing at all. */
const NAME = 'mortal';
const TWIN = 'twin';
const up = (name: string, nodes = 1) => ['up', '--name', name, '--nodes', String(nodes)];

/** How far the making of a lab has come, by a file that appears then. */
const MILESTONES = {
  'the lab has its slot': `/var/lib/valkey-lab/${NAME}/lab.json`,
  'the network is there': `/run/netns/valkey-lab-${NAME}-switch`,
  'the API server starts': `/var/lib/valkey-lab/${NAME}/components/kube-apiserver.json`,
  'the container runtime starts': `/var/lib/valkey-lab/${NAME}/components/node1/containerd.json`,
  'the kubelet starts': `/var/lib/valkey-lab/${NAME}/components/node1/kubelet.json`,
};
type Milestone = keyof typeof MILESTONES;

let foreignState: string[];

beforeAll(async () => {
  await Promise.all([NAME, TWIN].map((name) => removeLab(name)));
  foreignState = listForeignState();
  expect(await describeUp(NAME, await runLabCli(up(NAME)))).toBe('a lab is there');
});

afterAll(async () => {
  await Promise.all([NAME, TWIN].map((name) => removeLab(name)));
  expect(listForeignState()).toEqual(foreignState);
});

describe('a lab that runs', () => {
  test('is left alone by lab-up, which says where it is', async () => {
    const before = Lab.open(NAME).components();
    expect(await describeUp(NAME, await runLabCli(up(NAME)))).toBe('a lab is there');
    expect(Lab.open(NAME).components()).toEqual(before);
  });

  test('is not taken for one of another size', async () => {
    const { code, stderr } = await runLabCli(up(NAME, 2));
    expect(code).toBe(1);
    expect(stderr).toMatch(/already runs, with 1 nodes instead of 2\n +what to do: .*make lab-down NAME=mortal/);
    expect(
      Lab.open(NAME)
        .components()
        .filter(({ state }) => state !== 'running'),
    ).toEqual([]);
  });
});

describe('a lab of which everything was killed', () => {
  test('is shown as what it is, and made anew by lab-up', async () => {
    await killAll(NAME);
    const status = await runLabCli(['status', '--name', NAME]);
    expect(status.code).toBe(1);
    expect(status.stdout).toMatch(/✗ etcd has stopped; its last line: .+\n +what to do: read .*etcd\.log/);
    expect(await describeUp(NAME, await runLabCli(up(NAME)))).toBe('a lab is there');
  });

  test('is removed by lab-down without a trace', async () => {
    const { slot } = Lab.open(NAME).layout;
    await killAll(NAME);
    expect(await leftAfterDown(NAME, slot)).toEqual([]);
  });
});

test('a lab whose record was damaged and whose files were deleted by hand is still found and removed', async () => {
  expect(await describeUp(NAME, await runLabCli(up(NAME)))).toBe('a lab is there');
  const { slot, dir } = Lab.open(NAME).layout;
  writeFileSync(`${dir}/lab.json`, '{"name": "mor');
  const status = await runLabCli(['status', '--name', NAME]);
  expect(status.stdout).toMatch(/✗ a lab that is gone left behind: .*network namespace valkey-lab-mortal-switch/);
  rmSync(dir, { recursive: true, maxRetries: 20 }); // the lab lives, and writes while it is being deleted
  expect(await leftAfterDown(NAME, slot)).toEqual([]);
});

describe('making a lab', () => {
  beforeEach(() => Promise.all([NAME, TWIN].map((name) => removeLab(name))));

  test.each(Object.keys(MILESTONES) as Milestone[])(
    'that is killed when %s leaves nothing for lab-down to miss',
    async (milestone) => {
      await cutOff(up(NAME), milestone, 'SIGKILL');
      expect(await leftAfterDown(NAME)).toEqual([]);
    },
  );

  test('succeeds after one that was killed, although nobody cleared what it left', async () => {
    await cutOff(up(NAME), 'the kubelet starts', 'SIGKILL');
    expect(await describeUp(NAME, await runLabCli(up(NAME)))).toBe('a lab is there');
    expect(await leftAfterDown(NAME)).toEqual([]);
  });

  test.each(['the network is there', 'the kubelet starts'] as const)(
    'that is interrupted when %s clears what it had begun',
    async (milestone) => {
      expect(await cutOff(up(NAME), milestone, 'SIGINT')).toEqual(INTERRUPTED);
      expect(listTraces(NAME)).toEqual([]);
    },
  );

  test('is cleared in the same way when it was for a playground', async () => {
    const playground = ['playground', '--name', NAME, '--nodes', '1'];
    expect(await cutOff(playground, 'the kubelet starts', 'SIGINT')).toEqual(INTERRUPTED);
    expect(listTraces(NAME)).toEqual([]);
  });

  test('twice at once makes it once; another lab is made beside it', async () => {
    const [first, second, twin] = await Promise.all([up(NAME), up(NAME), up(TWIN)].map((args) => runLabCli(args)));
    expect(await describeUp(NAME, first!)).toBe('a lab is there');
    expect(await describeUp(NAME, second!)).toBe('a lab is there');
    expect(await describeUp(TWIN, twin!)).toBe('a lab is there');
    expect([first!.stderr, second!.stderr].join()).toContain('✓ Wait for another command on lab mortal');
    const slots = [NAME, TWIN].map((name) => Lab.open(name).layout.slot);
    expect(slots[0]).not.toBe(slots[1]);
    expect(await leftAfterDown(NAME, slots[0])).toEqual([]);
    expect(await describeUp(TWIN, await runLabCli(up(TWIN)))).toBe('a lab is there');
    expect(await leftAfterDown(TWIN, slots[1])).toEqual([]);
  });
});

const INTERRUPTED = {
  code: 130,
  stdout: '',
  stderr: expect.stringContaining('stopped; what this command had begun is removed') as string,
};

/** End a command shortly after it has come this far; how shortly is left to chance. */
async function cutOff(args: string[], milestone: Milestone, signal: NodeJS.Signals): Promise<CliResult> {
  const { child, result } = startLabCli(args);
  await expect.poll(() => existsSync(MILESTONES[milestone]), { timeout: 120_000, interval: 5 }).toBe(true);
  await sleep(Math.random() * 200);
  child.kill(signal);
  return result;
}

/** Whether `lab up` kept its promise: exit code 0, the kubeconfig in the last line, and a Kubernetes behind it. */
async function describeUp(name: string, { code, stdout, stderr }: CliResult): Promise<string> {
  if (code !== 0) return `exit code ${code}: ${stderr}`;
  const lab = Lab.open(name);
  expect(stdout.trimEnd().split('\n').at(-1)).toBe(lab.kubeconfig);
  expect((await lab.kubectl(['get', '--raw', '/readyz'])).stdout).toBe('ok');
  expect((await lab.kubectl(['get', 'nodes', '--no-headers'])).stdout).toMatch(/^node1 +Ready/);
  return 'a lab is there';
}

/** What is left of a lab when `lab down` has done its work. */
async function leftAfterDown(name: string, slot?: number): Promise<string[]> {
  const { code, stderr } = await runLabCli(['down', '--name', name]);
  if (code !== 0) return [`exit code ${code}: ${stderr}`];
  return [...listTraces(name), ...(slot === undefined ? [] : listHostNetwork(slot))];
}

/** `kill -9` of every process of a lab, found in the files of the kernel alone. */
async function killAll(name: string): Promise<void> {
  expect(processesOf(name)).not.toEqual([]);
  const kill = () => {
    for (const pid of processesOf(name)) process.kill(pid, 'SIGKILL');
    return processesOf(name);
  };
  await expect.poll(kill, { timeout: 30_000 }).toEqual([]);
}

function processesOf(name: string): number[] {
  const files = globSync(`/sys/fs/cgroup{,/*}/valkey-lab/${name}/**/cgroup.procs`);
  return [...new Set(files.flatMap((file) => readFileSync(file, 'utf8').match(/\d+/g) ?? []))].map(Number);
}
