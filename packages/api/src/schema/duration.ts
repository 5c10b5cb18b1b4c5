import { text } from './field.ts';
import { matches } from './rule.ts';

const grammar = '^[1-9][0-9]{0,5}(m|h|d|mo|y)$';

const rules = [matches(grammar, 'must be a whole number and a unit of m, h, d, mo or y, such as 90d')];

/** Lengths of time as the certificates of this world are measured: `10m`, `12h`, `90d`, `3mo`, `1y`. */
export function duration(description: string) {
  return text(description, { max: 8, rules });
}

/** A validity shorter than this could expire while its successor is still on its way to the pods. */
export function certificateValidity(description: string) {
  const atLeastTenMinutes = {
    rule: "!self.matches(r'^[1-9]m$')",
    message: 'must be at least 10m: a shorter certificate could expire before its successor reaches every pod',
  };
  return text(description, { max: 8, rules: [...rules, atLeastTenMinutes] });
}

const minute = 60_000;
const units: Record<string, number> = {
  m: minute,
  h: 60 * minute,
  d: 24 * 60 * minute,
  mo: 30 * 24 * 60 * minute,
  y: 365 * 24 * 60 * minute,
};

/** Milliseconds of a duration. A month counts 30 days and a year 365, as they measure validity, not calendars. */
export function parseDuration(value: string): number {
  const unit = new RegExp(grammar).exec(value)?.[1];
  if (unit === undefined) throw new RangeError(`not a duration: ${value}`);
  return Number.parseInt(value, 10) * (units[unit] ?? Number.NaN);
}
