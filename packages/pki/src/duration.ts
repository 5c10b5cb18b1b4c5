const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

// Months and years are fixed lengths here: a certificate's life must not depend on the month it is issued in.
const UNITS: Readonly<Record<string, number>> = { m: MINUTE, h: HOUR, d: DAY, mo: 30 * DAY, y: 365 * DAY };

/** Milliseconds of a duration such as `90d`; the grammar is a whole number and one of `m h d mo y`. */
export function parseDuration(text: string): number {
  const match = /^([1-9]\d{0,5})(m|h|d|mo|y)$/.exec(text);
  const unit = UNITS[match?.[2] ?? ''];
  if (!match || unit === undefined) {
    throw new RangeError(
      `not a duration: ${JSON.stringify(text)}; write a whole number and a unit: 1m, 1h, 1d, 1mo, 1y`,
    );
  }
  return Number(match[1]) * unit;
}
