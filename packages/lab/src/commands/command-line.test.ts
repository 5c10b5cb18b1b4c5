import { describe, expect, test } from 'vitest';
import { COMMANDS, readCommandLine } from './command-line.ts';

function helpOf(...args: string[]): string {
  const asked = readCommandLine(args);
  if (!('help' in asked)) throw new Error('it would run instead of helping');
  return asked.help;
}

describe('the command line of the lab', () => {
  test.each([[], ['--help'], ['-h'], ['help']])('%j lists the commands', (...args) => {
    const help = helpOf(...args);
    for (const [name, { summary }] of Object.entries(COMMANDS))
      expect(help).toContain(`  ${name.padEnd(16)} ${summary}`);
  });

  test.each(Object.keys(COMMANDS))('%s --help describes each of its options, aligned', (name) => {
    const [title, blank, ...rows] = helpOf(name, '--help').split('\n');
    expect(title).toBe(`lab ${name} - ${COMMANDS[name]!.summary}`);
    expect(blank).toBe('');
    const options = Object.entries(COMMANDS[name]!.options);
    expect(rows).toHaveLength(options.length);
    const columns = options.map(([option, { description }], index) => {
      expect(rows[index]).toContain(`--${option}`);
      return rows[index]!.indexOf(description);
    });
    expect(new Set(columns).size).toBeLessThanOrEqual(1);
  });

  test('defaults are part of the help', () => {
    expect(helpOf('up', '--help')).toMatch(/--nodes N +how many nodes \(default 3\)/);
  });

  test('a command is run with the options given and the defaults of the others', async () => {
    const asked = readCommandLine(['up', '--name', 'UPPER']);
    await expect('run' in asked && asked.run()).rejects.toThrow('lab name "UPPER" must be');
  });

  test.each([
    [['destroy'], 'there is no command "destroy"', 'the commands are up, down,'],
    [['toString'], 'there is no command "toString"', 'the commands are up, down,'],
    [['up', '--size', '3'], "Unknown option '--size'", 'see: lab up --help'],
    [['up', '--name'], "Option '--name <value>' argument missing", 'see: lab up --help'],
    [['down', 'everything'], "Unexpected argument 'everything'", 'see: lab down --help'],
    [['status', '--json=yes'], "Option '--json' does not take an argument", 'see: lab status --help'],
  ])('%j is refused', (args, message, remedy) => {
    let error: unknown;
    try {
      readCommandLine(args);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({
      code: 'BadArgument',
      message: expect.stringContaining(message) as string,
      remedy: expect.stringContaining(remedy) as string,
    });
  });
});
