import type { Rule } from '../schema/rule.ts';
import { map, object } from '../schema/field.ts';
import { quantity } from '../schema/quantity.ts';

const amounts = (description: string) =>
  map(description, quantity('Amount of this resource: 500m, 2, 1Gi.'), { max: 16 }).optional();

const requestsWithinLimits: Rule = {
  rule:
    '!has(self.requests) || !has(self.limits) || self.requests.all(name, !(name in self.limits) || ' +
    '!isQuantity(string(self.requests[name])) || !isQuantity(string(self.limits[name])) || ' +
    'quantity(string(self.requests[name])).compareTo(quantity(string(self.limits[name]))) <= 0)',
  message: 'must not request more than limits allow: Kubernetes takes no such pod',
  fieldPath: '.requests',
};

// Atomic, because a request from one source and a limit from another can contradict each other.
export function resources(description: string) {
  return object(
    description,
    {
      requests: amounts('What the scheduler reserves for the container.'),
      limits: amounts('What the container may use at most.'),
    },
    { atomic: true, rules: [requestsWithinLimits] },
  );
}

// Valkey writes memory as 1gb (binary) or 1g (decimal); Kubernetes as 1Gi and 1G. Spelled alike, both are quantities.
const maxmemory = [
  ['gb', 'Gi'],
  ['mb', 'Mi'],
  ['kb', 'Ki'],
  ['b', ''],
  ['g', 'G'],
  ['m', 'M'],
].reduce((text, [unit, suffix]) => `${text}.replace('${unit}', '${suffix}')`, "self.config['maxmemory'].lowerAscii()");

/** Beyond maxmemory a server needs room for buffers and for the copies of pages during a save. */
export const limitAboveMaxmemory: Rule = {
  rule:
    "!has(self.config) || !('maxmemory' in self.config) || !has(self.resources) || !has(self.resources.limits) || " +
    `!('memory' in self.resources.limits) || !isQuantity(${maxmemory}) || ` +
    `quantity(string(self.resources.limits['memory'])).isGreaterThan(quantity(${maxmemory}))`,
  message:
    'limits.memory must be above config.maxmemory: raise the limit, lower maxmemory, or leave maxmemory out to have it derived',
  fieldPath: '.resources',
};
