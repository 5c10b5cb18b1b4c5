import { describe, expect, it } from 'vitest';
import { parseSettings } from './settings.ts';

describe('settings.json', () => {
  it('is read with texts and lists of texts', () => {
    const value = { hash: 'h', settings: { maxmemory: '1gb', save: ['60 1', '300 10'] } };
    expect(parseSettings(JSON.stringify(value))).toEqual({ ok: true, value });
  });

  it.each([
    ['{', 'is not JSON'],
    ['[]', 'must hold hash and settings'],
    ['{"hash": 1, "settings": {}}', 'must hold hash and settings'],
    ['{"hash": "h", "settings": {"port": 1}}', 'port must be a text or a list of texts'],
  ])('is refused when it is %s', (text, problem) => {
    expect(parseSettings(text)).toEqual({ ok: false, message: `settings.json: ${problem}` });
  });
});
