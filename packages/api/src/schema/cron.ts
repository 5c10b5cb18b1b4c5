import { text } from './field.ts';
import { matches, type Rule } from './rule.ts';

const field = (value: string): string => {
  const item = `(\\*|${value}(-${value})?)(/[1-9][0-9]?)?`;
  return `${item}(,${item})*`;
};

const minute = field('[0-5]?[0-9]');
const hour = field('([01]?[0-9]|2[0-3])');
const dayOfMonth = field('(0?[1-9]|[12][0-9]|3[01])');
const month = field('(0?[1-9]|1[0-2]|[A-Za-z]{3})');
const dayOfWeek = field('([0-7]|[A-Za-z]{3})');

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
