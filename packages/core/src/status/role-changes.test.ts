import { expect, it } from 'vitest';
import type { PodView } from '../snapshot.ts';
import { bear } from '../testing/settle.ts';
import { viewSnapshot } from '../testing/view.ts';
import { findRoleChanges } from './role-changes.ts';

/** A replica has taken over, and what its former primary has told is from before that. */
function takeOver(change: (former: PodView) => PodView) {
  const cluster = bear();
  const before = cluster.snapshot();
  const heir = cluster.nodes.find(({ primaryId }) => primaryId !== undefined)!;
  const primary = cluster.pods.find(({ node }) => node?.id === heir.primaryId)!;
  cluster.bus.promote(heir);
  const pods = cluster.snapshot().pods.map((pod) => {
    const earlier = before.pods.find(({ uid }) => uid === pod.uid)!;
    return pod.name === primary.name ? change(earlier) : pod;
  });
  return findRoleChanges(viewSnapshot({ ...cluster.snapshot(), pods }));
}

it('a primary that answers has handed over, though it has not told so yet', () => {
  const [event] = takeOver((former) => former);
  expect(event).toMatchObject({ reason: 'PrimaryHandedOver' });
});

it.each([
  ['is not heard', (report: NonNullable<PodView['report']>) => ({ ...report, live: false })],
  [
    'does not answer',
    ({ cluster: _, ...report }: NonNullable<PodView['report']>) => ({
      ...report,
      process: { ...report.process, state: 'unresponsive' as const },
    }),
  ],
  [
    'is cut off from the others',
    (report: NonNullable<PodView['report']>) => ({ ...report, cluster: { ...report.cluster!, stateOk: false } }),
  ],
])('from one that %s another has taken over because it is not there', (_what, change) => {
  const [event] = takeOver((former) => ({ ...former, report: change(former.report!) }));
  expect(event).toMatchObject({ reason: 'FailedOver' });
});
