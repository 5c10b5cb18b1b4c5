import { choice, integer, list, map, object, text } from '../schema/field.ts';

// The scheduling types of Kubernetes' own Pod, with the same names, so that a block copied from a Pod works here.

const labelValue = text('A label value.', { max: 63 });
const labelKey = text('Key of a label.', { max: 317 });

const labelSelector = object(
  'Selects pods by their labels.',
  {
    matchLabels: map('Labels a pod must have.', labelValue, { max: 16 }).optional(),
    matchExpressions: list(
      'Conditions on labels; all must hold.',
      object('A condition on one label.', {
        key: labelKey,
        operator: choice('How the label is compared.', ['In', 'NotIn', 'Exists', 'DoesNotExist']),
        values: list('Values for In and NotIn.', labelValue, { max: 32 }).optional(),
      }),
      { max: 16 },
    ).optional(),
  },
  { atomic: true },
);

const podAffinityTerm = {
  labelSelector: labelSelector.optional(),
  namespaceSelector: labelSelector.optional(),
  namespaces: list('Namespaces of the selected pods; none: the own one.', text('A namespace.', { max: 63 }), {
    max: 16,
  }).optional(),
  topologyKey: text('Node label that tells places apart, such as kubernetes.io/hostname.', { max: 317 }),
};

const weight = integer('How much this preference counts against others.', { min: 1, max: 100 });

function podTerms(description: string) {
  return object(
    description,
    {
      requiredDuringSchedulingIgnoredDuringExecution: list(
        'Rules that a node must meet.',
        object('Which pods, and what counts as the same place.', podAffinityTerm),
        { max: 16 },
      ).optional(),
      preferredDuringSchedulingIgnoredDuringExecution: list(
        'Rules that a node should meet, by weight.',
        object('A weighted rule.', {
          weight,
          podAffinityTerm: object('Which pods, and what counts as the same place.', podAffinityTerm),
        }),
        { max: 16 },
      ).optional(),
    },
    { atomic: true },
  );
}

const nodeRequirement = object('A condition on one node label or field.', {
  key: labelKey,
  operator: choice('How it is compared.', ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt']),
  values: list('Values to compare with.', text('A value.', { max: 253 }), { max: 64 }).optional(),
});

const nodeSelectorTerm = object('Conditions on a node; all must hold.', {
  matchExpressions: list('Conditions on labels of the node.', nodeRequirement, { max: 16 }).optional(),
  matchFields: list('Conditions on fields of the node.', nodeRequirement, { max: 16 }).optional(),
});

const nodeAffinity = object(
  'Nodes the pods must or should run on. Changing it rolls the pods.',
  {
    requiredDuringSchedulingIgnoredDuringExecution: object('What a node must meet.', {
      nodeSelectorTerms: list('Terms of which one must hold.', nodeSelectorTerm, { max: 16 }),
    }).optional(),
    preferredDuringSchedulingIgnoredDuringExecution: list(
      'What a node should meet, by weight.',
      object('A weighted rule.', { weight, preference: nodeSelectorTerm }),
      { max: 16 },
    ).optional(),
  },
  { atomic: true },
);

const toleration = object('A taint that the pods put up with.', {
  key: text('Key of the taint; none: all taints.', { max: 317 }).optional(),
  operator: choice('Exists, or Equal to a value.', ['Exists', 'Equal']).optional(),
  value: text('Value of the taint.', { max: 63 }).optional(),
  effect: choice('Effect of the taint; none: all effects.', ['NoSchedule', 'PreferNoSchedule', 'NoExecute']).optional(),
  tolerationSeconds: integer('How long a NoExecute taint is put up with.').optional(),
});

const topologySpreadConstraint = object('How evenly pods are spread over places.', {
  maxSkew: integer('By how many pods places may differ.', { min: 1 }),
  topologyKey: text('Node label that tells places apart, such as topology.kubernetes.io/zone.', { max: 317 }),
  whenUnsatisfiable: choice('What to do when no place fits.', ['DoNotSchedule', 'ScheduleAnyway']),
  labelSelector: labelSelector.optional(),
  matchLabelKeys: list('Pod labels whose values join the selector.', labelKey, { max: 16 }).optional(),
  minDomains: integer('Fewest places that count.', { min: 1 }).optional(),
  nodeAffinityPolicy: choice('Whether nodeAffinity decides which nodes count.', ['Honor', 'Ignore']).optional(),
  nodeTaintsPolicy: choice('Whether taints decide which nodes count.', ['Honor', 'Ignore']).optional(),
});

export const scheduling = {
  podAffinity: podTerms('Pods to be near. Changing it rolls the pods.').optional(),
  podAntiAffinity: podTerms(
    'Pods to keep away from. With no scheduling given, pods spread over nodes and zones where possible. Changing it rolls the pods.',
  ).optional(),
  nodeAffinity: nodeAffinity.optional(),
  nodeSelector: map('Labels a node must have. Changing it rolls the pods.', labelValue, { max: 32 }).optional(),
  tolerations: list('Taints the pods put up with. Changing it rolls the pods.', toleration, { max: 32 }).optional(),
  topologySpreadConstraints: list(
    'How pods spread over nodes and zones. Changing it rolls the pods.',
    topologySpreadConstraint,
    { max: 16 },
  ).optional(),
  priorityClassName: text('PriorityClass of the pods. Changing it rolls the pods.').optional(),
};
