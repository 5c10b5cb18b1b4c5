import { text } from './field.ts';
import { matches, type Rule } from './rule.ts';

const dnsName = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$';

/** The name of another object, in the same namespace unless the documentation of the field says otherwise. */
export function objectName(description: string, { rules = [] }: { rules?: readonly Rule[] } = {}) {
  const name = matches(dnsName, 'must be the name of a Kubernetes object: lower case letters, digits, "-" and "."');
  return text(description, { rules: [name, ...rules] });
}

// The longest thing a deployment's name is put into is a label of 63 characters: Services such as
// `<name>-<ordinal>-external` and the StatefulSet's own `controller-revision-hash` need up to 18 of them.
const longestName = 45;

/** The name of a deployment becomes the name of pods and Services, which take less than a Kubernetes object may. */
function deploymentNameRules(self: string, subject: string): readonly Rule[] {
  return [
    {
      rule: `${self}.size() <= ${longestName}`,
      message: `${subject}must be at most ${longestName} characters: names of pods and Services are made from it`,
    },
    {
      rule: `${self}.matches(r'^[a-z]([-a-z0-9]*[a-z0-9])?$')`,
      message:
        `${subject}must start with a letter and have only lower case letters, digits and "-": ` +
        'names of Services are made from it',
    },
  ];
}

/** On the object itself. Such a rule cannot point to metadata, so its message does. */
export const validDeploymentName = deploymentNameRules('self.metadata.name', 'metadata.name ');

/** The name of a deployment that does not exist yet. */
export function deploymentName(description: string) {
  return text(description, { rules: deploymentNameRules('self', '') });
}
