import { parseArgs } from 'node:util';
import { formatHelp, parseOptions, type Command } from './commands/command.ts';
import { down } from './commands/down.ts';
import { images } from './commands/images.ts';
import { install } from './commands/install.ts';
import { playgroundDown } from './commands/playground-down.ts';
import { playground } from './commands/playground.ts';
import { status } from './commands/status.ts';
import { up } from './commands/up.ts';
import { LabError } from './errors.ts';

/** The lab's command line. `make lab-up NAME=x` and its like call it; it works as well by itself. */
const COMMANDS: Record<string, Command> = {
  up,
  down,
  install,
  images,
  status,
  playground,
  'playground-down': playgroundDown,
};

async function main([name, ...args]: string[]): Promise<void> {
  const command = name === undefined ? undefined : COMMANDS[name];
  if (!command) {
    const list = Object.entries(COMMANDS).map(([word, { summary }]) => `  ${word.padEnd(16)} ${summary}`);
    const text = ['usage: lab COMMAND [options]      (lab COMMAND --help says more)', '', ...list].join('\n');
    if (name === undefined || name === '--help' || name === '-h' || name === 'help') return console.log(text);
    throw new LabError(
      'BadArgument',
      `there is no command "${name}"`,
      `the commands are ${Object.keys(COMMANDS).join(', ')}`,
    );
  }
  const { values } = parse(name!, command, args);
  if (values.help) return console.log(formatHelp(name!, command));
  await command.run(values);
}

function parse(name: string, command: Command, args: string[]) {
  try {
    return parseArgs({ args, options: parseOptions(command), strict: true }) as {
      values: Record<string, string | boolean | undefined>;
    };
  } catch (error) {
    throw new LabError('BadArgument', (error as Error).message, `see: lab ${name} --help`);
  }
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (process.exitCode === 130) {
    console.error('\n  stopped; everything that was made is removed');
  } else if (error instanceof LabError) {
    console.error(`\n  ${error.message}\n  what to do: ${error.remedy}\n`);
    process.exitCode = 1;
  } else {
    throw error;
  }
}
