import { z } from 'zod';

/** A Kubernetes quantity as people write it: `30Gi`, `500m` or a bare number. */
export function quantity(description: string) {
  return z.union([z.int(), z.string().max(32)]).meta({
    description,
    'x-kubernetes-int-or-string': true,
    maxLength: 32,
    'x-kubernetes-validations': [
      { rule: 'isQuantity(string(self))', message: 'must be a quantity such as 500m, 2 or 30Gi' },
    ],
  });
}

export type Quantity = z.infer<ReturnType<typeof quantity>>;

const grammar = /^([+-]?(?:\d+(?:\.\d*)?|\.\d+))(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?\d+)?$/;

const multipliers: Record<string, number> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** The value in base units (bytes, cores), or undefined when the text is no quantity. */
export function parseQuantity(value: Quantity): number | undefined {
  const match = grammar.exec(String(value));
  if (!match) return undefined;
  const [, digits, suffix = ''] = match;
  return Number(digits) * (multipliers[suffix] ?? Number(`1${suffix}`));
}
