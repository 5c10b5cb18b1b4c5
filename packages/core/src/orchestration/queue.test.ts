import type { ValkeyClusterSummary } from '@valkey-operator/api';
import { describe, expect, it } from 'vitest';
import type { Decision } from '../decision.ts';
import type { SimulatedCluster } from '../simulation/simulated-cluster.ts';
import { bear } from '../testing/settle.ts';
import { viewOf } from '../testing/view.ts';
import { chooseCourse, type Course } from './course.ts';
import { tellStory } from './story.ts';

const restart: Decision = {
  kind: 'Restart',
  reason: 'OrchestrationStarted',
  message: 'Pod demo-3 is replaced.',
  disruptive: true,
  step: { name: 'Replace pods', number: 1, of: 6 },
  stages: [[{ type: 'DeletePod', pod: 'demo-3', uid: 'pod-3', reason: 'OrchestrationStarted' }]],
};
const reconfigure: Decision = {
  kind: 'Reconfigure',
  reason: 'OrchestrationStarted',
  message: 'maxmemory is set.',
  stages: [[{ type: 'AddFinalizer' }]],
};
const repair: Decision = { kind: 'Heal', reason: 'ReplicaMissing', message: 'One is gone.', stages: [[]] };
const scaleIn: Decision = { kind: 'ScaleIn', reason: 'OrchestrationStarted', message: 'Slots move.' };

/** One look after the other, each with the status that the one before has left. */
function look(cluster: SimulatedCluster, changes: readonly Decision[], repair?: Decision): Course {
  const course = chooseCourse(viewOf(cluster), repair, changes);
  const { orchestration, pending: pendingOrchestrations } = course;
  const [cancelled, ...cancelledBefore] = course.cancelled;
  const { orchestration: _o, pendingOrchestrations: _p, cancelled: _c, ...rest } = cluster.cluster.status ?? {};
  const status: ValkeyClusterSummary = {
    ...rest,
    ...(orchestration && { orchestration }),
    ...(cancelled && { cancelled }),
    cancelledBefore,
    pendingOrchestrations: [...pendingOrchestrations],
  };
  cluster.cluster = { ...cluster.cluster, status };
  return course;
}

const pendingKinds = ({ pending }: Course) => pending.map(({ kind }) => kind);

describe('changes', () => {
  it('run one after the other: who has begun goes on, the others wait in order', () => {
    const cluster = bear();
    look(cluster, [scaleIn]);
    const course = look(cluster, [restart, reconfigure, scaleIn]);
    expect(course.orchestration?.kind).toBe('ScaleIn');
    expect(pendingKinds(course)).toEqual(['Restart', 'Reconfigure']);
    const next = look(cluster, [restart, reconfigure]);
    expect(next.orchestration?.kind).toBe('Restart');
    expect(next.ended.map(({ kind }) => kind)).toEqual(['ScaleIn']);
  });

  it('that need a person before they can begin do not keep others waiting', () => {
    const cluster = bear();
    const refused: Decision = { kind: 'Upgrade', reason: 'InvalidSpec', message: 'No such step.', held: true };
    expect(look(cluster, [refused, reconfigure]).orchestration?.kind).toBe('Reconfigure');
    const alone = look(cluster, [refused]);
    expect(alone.orchestration).toBeUndefined();
    expect(alone.decision).toBe(refused);
  });

  it('that a repair waits for go before it', () => {
    const cluster = bear();
    const wait: Decision = { reason: 'WaitingForPods', message: 'demo-3 does not start.' };
    expect(look(cluster, [restart], wait).decision).toBe(wait);
    const answer = { ...restart, unblocks: true };
    expect(look(cluster, [answer], wait).decision).toBe(answer);
  });

  it('that have begun keep their place, however many, while something is mended', () => {
    const cluster = bear();
    const wait: Decision = { reason: 'WaitingForSync', message: 'demo-3 receives its data.' };
    const { id } = look(cluster, [scaleIn]).orchestration!;
    look(cluster, [{ ...reconfigure, unblocks: true }], wait);
    const course = look(cluster, [], wait);
    expect(course.ended).toEqual([]);
    expect(course.pending).toMatchObject([{ id, kind: 'ScaleIn' }]);
  });
});

describe('a pause', () => {
  it('lets nothing begin, tells what waits, and keeps ids', () => {
    const cluster = bear();
    const { id } = look(cluster, [restart]).orchestration!;
    cluster.annotate('paused');
    const paused = look(cluster, [restart, reconfigure], repair);
    expect(paused.orchestration).toBeUndefined();
    expect(paused.decision?.stages).toBeUndefined();
    expect(pendingKinds(paused)).toEqual(['Heal', 'Restart', 'Reconfigure']);
    cluster.annotate('paused', 'false');
    expect(look(cluster, [restart]).orchestration?.id).toBe(id);
  });

  it('lets what must not stop come to its end', () => {
    const cluster = bear();
    cluster.annotate('paused');
    const moving = { ...scaleIn, committed: 'Slot 7 is half moved.' };
    expect(look(cluster, [moving]).decision).toBe(moving);
  });
});

describe('a closed maintenance window', () => {
  const closed = () => bear({ spec: { maintenanceWindows: [{ cron: '0 4 * * *', duration: '1h' }] } });
  const open = (cluster: SimulatedCluster) => (cluster.now = Date.parse('2026-11-15T04:30:00Z'));
  const close = (cluster: SimulatedCluster) => (cluster.now = Date.parse('2026-11-15T05:30:00Z'));

  it('holds what disrupts, with the time it opens, and nothing else', () => {
    const cluster = closed();
    close(cluster);
    const course = look(cluster, [restart]);
    expect(course.orchestration).toBeUndefined();
    expect(course.hold).toEqual({
      reason: 'WaitingForMaintenanceWindow',
      message: 'Waiting for the maintenance window that opens at 2026-11-16T04:00:00Z.',
      wakeAfterMs: 22.5 * 3_600_000,
    });
    expect(look(cluster, [restart, reconfigure]).orchestration?.kind).toBe('Reconfigure');
    expect(look(cluster, [restart], repair).orchestration?.kind).toBe('Heal');
  });

  it('lets the step end that had begun, and no other begin', () => {
    const cluster = closed();
    open(cluster);
    const { id } = look(cluster, [restart]).orchestration!;
    close(cluster);
    expect(look(cluster, [restart]).orchestration).toMatchObject({ id, step: 1 });
    const next = { ...restart, step: { ...restart.step!, number: 2 } };
    const held = look(cluster, [next]);
    expect(held.orchestration).toBeUndefined();
    expect(held.pending).toMatchObject([{ id, kind: 'Restart' }]);
    open(cluster);
    expect(look(cluster, [next]).orchestration).toMatchObject({ id, step: 2 });
  });
});

describe('a cancellation', () => {
  const storyOf = (cluster: SimulatedCluster, course: Course) =>
    tellStory(viewOf(cluster), course).map(({ reason }) => reason);

  it('stops the change, which does not begin again until the spec changes', () => {
    const cluster = bear();
    const { id } = look(cluster, [restart]).orchestration!;
    cluster.annotate('cancel', id);
    const story = storyOf(cluster, chooseCourse(viewOf(cluster), undefined, [restart]));
    expect(story).toEqual(['Cancelled']);
    const course = look(cluster, [restart]);
    expect(course).toMatchObject({ decision: undefined, cancelled: [{ id, kind: 'Restart', why: 'Requested' }] });
    expect(look(cluster, [restart]).decision).toBeUndefined();
    cluster.change({});
    expect(look(cluster, [restart]).orchestration?.kind).toBe('Restart');
  });

  it('by "true" is one request, though the annotation stays', () => {
    const cluster = bear();
    look(cluster, [restart]);
    cluster.annotate('cancel');
    expect(look(cluster, [restart]).decision).toBeUndefined();
    cluster.change({});
    expect(look(cluster, [restart]).decision).toBe(restart);
    expect(look(cluster, [restart]).decision).toBe(restart);
  });

  it('by "true" is another request when it was removed meanwhile', () => {
    const cluster = bear();
    look(cluster, [restart]);
    cluster.annotate('cancel');
    expect(look(cluster, [restart, reconfigure]).orchestration?.kind).toBe('Reconfigure');
    expect(look(cluster, [restart, reconfigure]).decision).toBe(reconfigure);
    cluster.annotate('cancel', '');
    expect(look(cluster, [restart, reconfigure]).decision).toBe(reconfigure);
    cluster.annotate('cancel');
    expect(look(cluster, [restart, reconfigure]).decision).toBeUndefined();
  });

  it('does not lift another one, whoever asked for it, and is told once', () => {
    const cluster = bear();
    const { id } = look(cluster, [restart]).orchestration!;
    cluster.annotate('cancel', id);
    const second = look(cluster, [restart, reconfigure]).orchestration!;
    cluster.annotate('cancel', second.id);
    expect(storyOf(cluster, chooseCourse(viewOf(cluster), undefined, [restart, reconfigure]))).toEqual(['Cancelled']);
    const course = look(cluster, [restart, reconfigure]);
    expect(course.decision).toBeUndefined();
    expect(course.cancelled).toMatchObject([{ id: second.id }, { id }]);
    cluster.annotate('cancel', '');
    expect(storyOf(cluster, chooseCourse(viewOf(cluster), undefined, [restart, reconfigure]))).toEqual([]);
    expect(look(cluster, [restart, reconfigure]).decision).toBeUndefined();
    cluster.change({});
    expect(look(cluster, [restart, reconfigure]).orchestration?.kind).toBe('Restart');
  });

  it('reaches an operation that another one goes before', () => {
    const cluster = bear();
    const { id } = look(cluster, [restart]).orchestration!;
    expect(look(cluster, [restart], repair).orchestration?.kind).toBe('Heal');
    cluster.annotate('cancel', id);
    expect(look(cluster, [restart], repair).cancelled).toMatchObject([{ id }]);
    expect(look(cluster, [restart]).decision).toBeUndefined();
  });

  it('is remembered while another operation is given up', () => {
    const cluster = bear();
    look(cluster, [restart]);
    cluster.annotate('cancel');
    const step = { name: 'Try', number: 1, of: 2, timeoutMs: 60_000, onTimeout: 'rollBack' } as const;
    const undo: Decision = { reason: 'OrchestrationStarted', message: 'Back.' };
    look(cluster, [restart, { ...reconfigure, step, undo }]);
    cluster.now += 61_000;
    look(cluster, [restart, { ...reconfigure, step, undo }]);
    expect(look(cluster, [restart, reconfigure]).decision).toBeUndefined();
  });

  it('of another operation is not heeded', () => {
    const cluster = bear();
    look(cluster, [restart]);
    cluster.annotate('cancel', 'upgrade-0123456789');
    expect(look(cluster, [restart]).decision).toBe(restart);
  });

  it('finishes what must not stop, then takes back what can be', () => {
    const cluster = bear();
    look(cluster, [scaleIn]);
    cluster.annotate('cancel');
    const back: Decision = { reason: 'OrchestrationStarted', message: 'Slots move back.' };
    const moving = { ...scaleIn, committed: 'Slot 7 is half moved.', undo: back };
    expect(look(cluster, [moving]).decision?.message).toBe(
      'Cancelled; what has begun is finished first: Slot 7 is half moved. Slots move.',
    );
    const { decision, orchestration } = look(cluster, [{ ...scaleIn, undo: back }]);
    expect(decision?.message).toBe('Cancelled, and taken back: Slots move back.');
    expect(orchestration?.kind).toBe('ScaleIn');
  });
});

describe('a step that takes too long', () => {
  const step = { name: 'Move slots', number: 2, of: 4, timeoutMs: 60_000 };
  const overdue = (decision: Decision) => {
    const cluster = bear();
    look(cluster, [decision]);
    cluster.now += 61_000;
    return { cluster, course: look(cluster, [decision]) };
  };

  it('holds and says what a person can do, and goes on when the step ends after all', () => {
    const { cluster, course } = overdue({ ...reconfigure, step });
    expect(course.decision).toMatchObject({ held: true, reason: 'OrchestrationFailed' });
    expect(course.decision?.stages).toBeUndefined();
    expect(course.decision?.message).toContain('step 2 of 4, "Move slots"');
    expect(look(cluster, [{ ...reconfigure, step: { ...step, number: 3 } }]).decision?.held).toBeUndefined();
  });

  it('is tried again where the planner says so, and counted', () => {
    const { course } = overdue({ ...reconfigure, step: { ...step, onTimeout: 'retry' } });
    expect(course.orchestration).toMatchObject({ attempts: 2, step: 2 });
    expect(course.decision?.held).toBeUndefined();
  });

  it('is taken back where the planner says so, and told as failed', () => {
    const undo: Decision = { reason: 'OrchestrationStarted', message: 'Back.' };
    const { cluster, course } = overdue({ ...reconfigure, undo, step: { ...step, onTimeout: 'rollBack' } });
    expect(course).toMatchObject({ decision: { message: 'Back.' }, cancelled: [{ why: 'Failed' }] });
    expect(look(cluster, [{ ...reconfigure, step, undo }]).decision?.message).toContain('Back.');
    expect(look(cluster, [{ ...reconfigure, step }]).decision).toBeUndefined();
  });
});
