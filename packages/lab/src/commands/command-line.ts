import { parseArgs } from 'node:util';
import { LabError } from '../errors.ts';
import { formatHelp, parseOptions, type Command, type OptionValues } from './command.ts';
import { down } from './down.ts';
import { images } from './images.ts';
import { install } from './install.ts';
import { playgroundDown } from './playground-down.ts';
import { playground } from './playground.ts';
import { saveImages } from './save-images.ts';
import { status } from './status.ts';
import { up } from './up.ts';

export const COMMANDS: Record<string, Command> = {
  up,
  down,
  install,
  images,
  'save-images': saveImages,
  status,
  playground,
  'playground-down': playgroundDown,
};

/** What the words after `lab` ask for: help, or a command with its options. */
export function readCommandLine([name, ...args]: readonly string[]): { help: string } | { run: () => Promise<void> } {
  if (name === undefined || ['--help', '-h', 'help'].includes(name)) return { help: formatOverview() };
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) {
    const known = Object.keys(COMMANDS).join(', ');
    throw new LabError('BadArgument', `there is no command "${name}"`, `the commands are ${known}`);
  }
  const values = readOptions(name, command, args);
  return values.help ? { help: formatHelp(name, command) } : { run: () => command.run(values) };
}

function readOptions(name: string, command: Command, args: string[]): OptionValues {
  try {
    return parseArgs({ args, options: parseOptions(command), strict: true }).values as OptionValues;
  } catch (error) {
    throw new LabError('BadArgument', (error as Error).message, `see: lab ${name} --help`, error);
  }
}

function formatOverview(): string {
  const list = Object.entries(COMMANDS).map(([word, { summary }]) => `  ${word.padEnd(16)} ${summary}`);
  return ['usage: lab COMMAND [options]      (lab COMMAND --help says more)', '', ...list].join('\n');
}
