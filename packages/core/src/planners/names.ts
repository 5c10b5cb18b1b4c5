import { buildChildren } from '../builders/children.ts';
import type { Decision, PlanView } from '../decision.ts';
import { isControlledBy } from '../expectation.ts';
import type { ChildObject } from '../snapshot.ts';

const LOOK_AGAIN_MS = 10_000;

/** Somebody else's object has a name that the cluster needs: it is neither adopted nor touched, and nothing is made beside it. */
export function planNames({ snapshot }: PlanView): Decision | undefined {
  const { cluster, children } = snapshot;
  const needed = new Set(buildChildren(snapshot).map(({ kind, metadata }) => `${kind} ${metadata.name}`));
  const taken = children.filter(
    (child) => needed.has(`${child.kind} ${child.metadata.name}`) && !isControlledBy(child, cluster.metadata.uid),
  );
  const [first] = taken;
  if (first === undefined) return undefined;
  const what = `${first.kind} ${first.metadata.name}`;
  if (first.metadata.deletionTimestamp || isOfNamesake(first, cluster.metadata.name)) {
    return {
      reason: 'WaitingForPods',
      message: `Waiting until ${what}, which belongs to a deleted cluster of this name, is gone.`,
      wakeAfterMs: LOOK_AGAIN_MS,
    };
  }
  return {
    reason: 'NameTaken',
    message: `${what} exists and does not belong to this cluster; it is left alone and nothing is created. Delete or rename it, or give the cluster another name.`,
    held: true,
    wakeAfterMs: LOOK_AGAIN_MS,
  };
}

/** There is only one of a name at a time, so the other is gone, and what it leaves is collected in a moment. */
function isOfNamesake({ metadata }: ChildObject, name: string): boolean {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  return owner?.kind === 'ValkeyCluster' && owner.name === name;
}
