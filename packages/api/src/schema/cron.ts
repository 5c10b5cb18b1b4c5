import { text } from './field.ts';
import { matches, type Rule } from './rule.ts';

const field = (value: string): string => {
  const item = `(\\*|${value}(-${value})?)(/[1-9][0-9]?)?`;
  return `${item}(,${item})*`;
};
/** RE2 and JavaScript have no common way to ignore the case of a part. */
const named = (names: readonly string[]): string =>
  names.map((name) => Array.from(name, (letter) => `[${letter.toUpperCase()}${letter}]`).join('')).join('|');

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const minute = field('[0-5]?[0-9]');
const hour = field('([01]?[0-9]|2[0-3])');
const dayOfMonth = field('(0?[1-9]|[12][0-9]|3[01])');
const month = field(`(0?[1-9]|1[0-2]|${named(MONTHS)})`);
const dayOfWeek = field(`([0-7]|${named(WEEKDAYS)})`);

// A weekday beside it makes a date that never comes harmless: cron fires when either of the two matches.
const february = '(0?2|[Ff][Ee][Bb])';
const shortMonth = '(0?[2469]|11|[Ff][Ee][Bb]|[Aa][Pp][Rr]|[Jj][Uu][Nn]|[Ss][Ee][Pp]|[Nn][Oo][Vv])';
const dateThatNeverComes = `^[^ ]+ [^ ]+ (3[01]([-,]3[01])* ${february}|31(,31)* ${shortMonth}(,${shortMonth})*) [*]$`;

const fires: Rule = {
  rule: `!self.matches(r'${dateThatNeverComes}')`,
  message: 'must be a time that comes: no such month has that day',
};

/** Five-field cron in UTC. */
export function cron(description: string) {
  const pattern = `^${[minute, hour, dayOfMonth, month, dayOfWeek].join(' ')}$`;
  return text(description, {
    max: 64,
    rules: [matches(pattern, 'must be five cron fields (minute hour day month weekday), such as "0 4 * * 6,0"'), fires],
  });
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** From one 29 February to the next, with a century between that has none. */
const HORIZON_DAYS = 8 * 366 + 1;

/** The first time after `after` at which a cron line fires, in milliseconds; undefined: never. */
export function nextFiring(line: string, after: number): number | undefined {
  const fields = line.split(' ');
  const [minutes, hours, days, months, weekdays] = [
    readField(fields[0], 0, 59),
    readField(fields[1], 0, 23),
    readField(fields[2], 1, 31),
    readField(fields[3], 1, 12, MONTHS),
    // Sunday is 0 and 7.
    readField(fields[4], 0, 7, WEEKDAYS).map((day) => day % 7),
  ];
  // As cron has always had it: if both days are given, either will do.
  const isEither = ![fields[2], fields[4]].some((each = '*') => each.startsWith('*'));
  const today = Math.floor(after / DAY_MS) * DAY_MS;
  for (let day = today; day < today + HORIZON_DAYS * DAY_MS; day += DAY_MS) {
    const date = new Date(day);
    const fits = [days.includes(date.getUTCDate()), weekdays.includes(date.getUTCDay())];
    if (!months.includes(date.getUTCMonth() + 1) || !(isEither ? fits.some(Boolean) : fits.every(Boolean))) continue;
    const times = hours.flatMap((hourOfDay) => minutes.map((each) => day + (hourOfDay * 60 + each) * MINUTE_MS));
    const next = times.find((time) => time > after);
    if (next !== undefined) return next;
  }
  return undefined;
}

/** The values that a field names, in order: lists of ranges with steps. */
function readField(value = '*', first: number, last: number, names: readonly string[] = []): number[] {
  const read = (item: string): number => {
    const index = names.indexOf(item.toLowerCase());
    return index < 0 ? Number(item) : index + first;
  };
  const items = value.split(',').flatMap((item) => {
    const [range = '*', step = '1'] = item.split('/');
    const [low = '*', high] = range.split('-');
    const from = low === '*' ? first : read(low);
    // "5/15" goes on to the end, "5" does not.
    const to = high === undefined ? (low === '*' || item.includes('/') ? last : from) : read(high);
    return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index).filter(
      (each) => (each - from) % Number(step) === 0,
    );
  });
  return [...new Set(items)].toSorted((a, b) => a - b);
}
