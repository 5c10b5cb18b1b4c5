import type { ParseArgsConfig } from 'node:util';
import { PLAYGROUND } from '../playground.ts';

/** One word of the `lab` command line. */
export interface Command {
  summary: string;
  /** Options beyond --help; the description becomes the help text. */
  options: Record<string, CommandOption>;
  run(values: OptionValues): Promise<void>;
}

export type OptionValues = Record<string, string | boolean | undefined>;

export interface CommandOption {
  type: 'string' | 'boolean';
  default?: string;
  /** What stands for the value in the help text. */
  value?: string;
  description: string;
}

export const nameOption = { type: 'string', default: 'lab', value: 'NAME', description: 'which lab' } as const;
export const playgroundNameOption = { ...nameOption, default: PLAYGROUND } as const;
export const nodesOption = { type: 'string', default: '3', value: 'N', description: 'how many nodes' } as const;
export const jsonOption = { type: 'boolean', description: 'print JSON for programs' } as const;

export function parseOptions(command: Command): NonNullable<ParseArgsConfig['options']> {
  const own = Object.entries(command.options).map(([name, { type, default: value }]) => [
    name,
    value === undefined ? { type } : { type, default: value },
  ]);
  return { ...Object.fromEntries(own), help: { type: 'boolean', short: 'h' } };
}

export function formatHelp(name: string, command: Command): string {
  const rows = Object.entries(command.options).map(([option, { value, description, default: fallback }]) => [
    `--${option}${value ? ` ${value}` : ''}`,
    `${description}${fallback ? ` (default ${fallback})` : ''}`,
  ]);
  const width = Math.max(0, ...rows.map(([left]) => left!.length));
  return [
    `lab ${name} - ${command.summary}`,
    '',
    ...rows.map(([left, right]) => `  ${left!.padEnd(width)}  ${right}`),
  ].join('\n');
}
