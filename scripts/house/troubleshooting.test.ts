import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Reason, reasons } from '../../packages/api/src/index.ts';

const root = resolve(import.meta.dirname, '../..');
const folder = join(root, 'docs/troubleshooting');
const index = readFileSync(join(folder, 'README.md'), 'utf8');

const pages = globSync('*.md', { cwd: folder }).filter((file) => file !== 'README.md');
const pageOf = (reason: string) => `${reason.replaceAll(/(?<!^)(?=[A-Z])/g, '-').toLowerCase()}.md`;

const [, reservedText = ''] = /## Reserved\n([^#]*)/.exec(index) ?? [];
const reserved = [...reservedText.matchAll(/`(\w+)`/g)].map(([, name]) => name!);
const explained = (Object.keys(reasons) as Reason[]).filter((reason) => !reserved.includes(reason));

describe('the troubleshooting guide', () => {
  test('has a page for each reason, and for nothing else', () => {
    expect(pages.toSorted()).toEqual(explained.map(pageOf).toSorted());
  });

  test('reserves only names that are reasons and that no code gives', () => {
    const sources = globSync('packages/{core,operator}/src/**/*.ts', { cwd: root, exclude: ['**/*.test.ts'] });
    const code = sources.map((path) => readFileSync(join(root, path), 'utf8')).join('\n');
    expect(reserved.filter((name) => !(name in reasons) || code.includes(`'${name}'`))).toEqual([]);
  });

  test.for(explained)('lists %s once, by its page', (reason) => {
    expect(index.split(`| [${reason}](${pageOf(reason)})`)).toHaveLength(2);
  });
});

describe.for(explained.filter((reason) => pages.includes(pageOf(reason))))('the page of %s', (reason) => {
  const text = readFileSync(join(folder, pageOf(reason)), 'utf8');

  test('begins with the words of the API', () => {
    expect(text).toMatch(new RegExp(`^# ${reason}\n\n`));
    expect(text.split('\n')[2]).toBe(reasons[reason].text);
  });

  test('says why it happens and what to do', () => {
    expect(text.match(/^## .*/gm)).toEqual(['## Why it happens', '## What to do']);
  });
});
