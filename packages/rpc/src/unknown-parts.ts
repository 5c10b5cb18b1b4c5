import type { DescField } from '@bufbuild/protobuf';
import { isReflectMessage, type ReflectMessage } from '@bufbuild/protobuf/reflect';

/**
 * The first part of a message that this version of the contract does not know: a field, or the value of an enum, at any depth.
 * A command that has one comes from a newer operator and would be carried out by half.
 */
export function findUnknownPart(message: ReflectMessage): string | undefined {
  const [extra] = message.getUnknown() ?? [];
  if (extra) return `field ${extra.no} of ${message.desc.name}`;
  for (const field of message.fields) {
    if (!message.isSet(field)) continue;
    for (const value of valuesOf(message, field)) {
      if (isReflectMessage(value)) {
        const part = findUnknownPart(value);
        if (part !== undefined) return part;
      } else if (field.enum && !field.enum.values.some(({ number }) => number === value)) {
        return `${String(value)} in ${message.desc.name}.${field.name}`;
      }
    }
  }
  return undefined;
}

function valuesOf(message: ReflectMessage, field: DescField): Iterable<unknown> {
  switch (field.fieldKind) {
    case 'list':
      return message.get(field);
    case 'map':
      return message.get(field).values();
    case 'message':
    case 'enum':
    case 'scalar':
      return [message.get(field)];
  }
}
