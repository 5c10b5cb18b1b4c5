import { text } from './field.ts';
import { matches } from './rule.ts';

const field = (value: string): string => {
  const item = `(\\*|${value}(-${value})?)(/[1-9][0-9]?)?`;
  return `${item}(,${item})*`;
};

const minute = field('[0-5]?[0-9]');
const hour = field('([01]?[0-9]|2[0-3])');
const dayOfMonth = field('(0?[1-9]|[12][0-9]|3[01])');
const month = field('(0?[1-9]|1[0-2]|[A-Za-z]{3})');
const dayOfWeek = field('([0-7]|[A-Za-z]{3})');

/** Five-field cron in UTC. */
export function cron(description: string) {
  const pattern = `^${[minute, hour, dayOfMonth, month, dayOfWeek].join(' ')}$`;
  return text(description, {
    max: 64,
    rules: [matches(pattern, 'must be five cron fields (minute hour day month weekday), such as "0 4 * * 6,0"')],
  });
}
