import { createHash } from 'node:crypto';
import type { Orchestration } from '@valkey-operator/api';
import type { Decision, PlanView } from '../decision.ts';
import { formatTime } from './time.ts';

/** What goes on, under one id from its begin to its end, however often the operator starts anew in between. */
export function describeOrchestration(view: PlanView, decision: Decision): Orchestration {
  const { cluster, now } = view.snapshot;
  const { creating, scaling } = view.topology;
  const kind = decision.kind ?? (creating ? 'Create' : scaling ? 'ScaleReplicas' : 'Heal');
  const running = cluster.status?.orchestration;
  const { uid, generation } = cluster.metadata;
  const begun =
    running?.kind === kind
      ? { id: running.id, startedAt: running.startedAt }
      : { id: `${kind.toLowerCase()}-${digest(`${uid}/${generation}/${now}`)}`, startedAt: formatTime(now) };
  const { number, of } = decision.step ?? (kind === 'Create' ? creationStep(view) : { number: 1, of: 1 });
  return { ...begun, kind, step: number, stepsTotal: of, attempts: 1, message: decision.message.slice(0, 1024) };
}

/** Pods start, slots are assigned, replicas receive their data. */
function creationStep({ topology: { missing, unowned, members } }: PlanView) {
  const started = members.length > 0 && missing.length === 0;
  return { number: started ? (unowned.isEmpty ? 3 : 2) : 1, of: 3 };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 10);
}
