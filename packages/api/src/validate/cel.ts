import { Environment, type ParseResult } from '@marcbachmann/cel-js';
import { parseQuantity } from '../schema/quantity.ts';

class QuantityValue {
  readonly value: number;
  constructor(text: string) {
    const value = parseQuantity(text);
    if (value === undefined) throw new RangeError(`not a quantity: ${text}`);
    this.value = value;
  }
}

// CEL as the API server runs it: the standard library comes with the package, these are Kubernetes' own additions that
// our rules use.
const environment = new Environment({ unlistedVariablesAreDyn: true })
  .registerType('Quantity', QuantityValue)
  .registerFunction('isQuantity(string): bool', (text: string) => parseQuantity(text) !== undefined)
  .registerFunction('quantity(string): Quantity', (text: string) => new QuantityValue(text))
  .registerFunction('Quantity.isGreaterThan(Quantity): bool', (a: QuantityValue, b: QuantityValue) => a.value > b.value)
  .registerFunction('Quantity.compareTo(Quantity): int', (a: QuantityValue, b: QuantityValue) =>
    BigInt(Math.sign(a.value - b.value)),
  )
  .registerFunction('string.replace(string, string): string', (text: string, from: string, to: string) =>
    text.replaceAll(from, to),
  );

const parsed = new Map<string, ParseResult>();

/** Whether a rule holds. Like the API server, a rule that cannot be evaluated does not hold. */
export function holds(rule: string, self: unknown, oldSelf: unknown): boolean {
  let expression = parsed.get(rule);
  if (!expression) {
    expression = environment.parse(rule);
    parsed.set(rule, expression);
  }
  try {
    return expression({ self: toCel(self), oldSelf: toCel(oldSelf) }) === true;
  } catch {
    return false;
  }
}

/** CEL integers are BigInts; none of our fields is a floating-point number. */
function toCel(value: unknown): unknown {
  if (typeof value === 'number') return BigInt(value);
  if (Array.isArray(value)) return value.map(toCel);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, toCel(child)]));
}
