import { describe, expect, it } from 'vitest';
import type { Plan } from '../actions.ts';
import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import { checkPlan } from '../testing/check-plan.ts';
import { bear, condition, settle } from '../testing/settle.ts';

const look = (cluster: SimulatedCluster) => cluster.reconcile(checkPlan(cluster));
const answers = ({ events }: Plan) => events.filter(({ reason }) => reason === 'NothingToCancel');
const progress = (plan: Plan) => condition(plan, 'Progressing').message ?? '';

/** A running ScaleReplicas, and its id. */
function change() {
  const cluster = bear();
  cluster.change({ replicasPerMaster: 2 });
  return { cluster, id: look(cluster).status.orchestration!.id };
}

describe('a cancellation', () => {
  it('with an id that no operation has stops nothing, and is answered with the ids that there are, by one event', () => {
    const { cluster, id } = change();
    cluster.annotate('cancel', 'scaleout-typo');
    const answer = `The annotation valkey.io/cancel is "scaleout-typo", but no operation that runs or waits has this id. There is ScaleReplicas ${id}: set it to the id of what shall stop, to "true" for the first, or remove it.`;
    const first = look(cluster);
    expect(answers(first)).toEqual([{ reason: 'NothingToCancel', message: answer }]);
    expect(progress(first)).toMatch(new RegExp(`^\\w.*\\. ${answer}$`));
    const later = Array.from({ length: 60 }, () => {
      cluster.tick();
      return look(cluster);
    });
    expect(later.flatMap(answers)).toEqual([]);
    expect(cluster.pods).toHaveLength(9);
    expect(progress(later.at(-1)!)).toMatch(
      /nothing to do\. The annotation .*There is nothing to cancel: remove it\.$/,
    );
    expect(condition(later.at(-1)!, 'Degraded')).toMatchObject({ status: 'False' });
  });

  it('of what waits behind a repair is heeded', () => {
    const { cluster, id } = change();
    cluster.killProcess(0);
    cluster.annotate('cancel', id);
    const plan = look(cluster);
    expect(answers(plan)).toEqual([]);
    expect(plan.status.cancelled).toMatchObject({ id });
    expect(answers(settle(cluster))).toEqual([]);
  });

  it('of what has ended already is answered with that', () => {
    const { cluster, id } = change();
    settle(cluster);
    cluster.annotate('cancel', id);
    const plan = look(cluster);
    const message = `The annotation valkey.io/cancel is "${id}", but ScaleReplicas of this id has ended already. There is nothing to cancel: remove it.`;
    expect(answers(plan)).toEqual([{ reason: 'NothingToCancel', message }]);
    expect(progress(plan)).toContain(message);
  });

  it('of a repair is answered with that it is one', () => {
    const cluster = bear();
    cluster.killProcess(0);
    const { id, kind } = look(cluster).status.orchestration!;
    cluster.annotate('cancel', id);
    const [answer] = answers(look(cluster));
    expect(kind).toBe('Heal');
    expect(answer?.message).toBe(
      `The annotation valkey.io/cancel is "${id}", but Heal is a repair, which cannot be cancelled.`,
    );
  });

  it('that was heeded is not answered so, while it is taken back, afterwards, and when its annotation goes', () => {
    const { cluster, id } = change();
    cluster.annotate('cancel', id);
    const plans = Array.from({ length: 60 }, () => {
      cluster.tick();
      return look(cluster);
    });
    cluster.change({});
    plans.push(settle(cluster));
    cluster.annotate('cancel', '');
    plans.push(look(cluster));
    expect(plans.flatMap(answers)).toEqual([]);
    expect(plans.map(progress).filter((message) => message.includes('The annotation'))).toEqual([]);
  });

  it.each(['true', 'false', ''])('by "%s" names none', (value) => {
    const cluster = bear();
    cluster.annotate('cancel', value);
    expect(answers(look(cluster))).toEqual([]);
  });
});
