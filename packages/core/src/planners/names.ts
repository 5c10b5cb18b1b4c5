import { buildChildren } from '../builders/children.ts';
import type { Decision, PlanView } from '../decision.ts';
import { isControlledBy } from '../expectation.ts';

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
  // What a deleted cluster of the same name has left is on its way out.
  if (first.metadata.deletionTimestamp) {
    return {
      reason: 'WaitingForPods',
      message: `Waiting until ${what}, which is being deleted, is gone.`,
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
