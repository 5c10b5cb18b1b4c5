import { annotations, type OrchestrationKind } from '@valkey-operator/api';
import type { PlanView } from '../decision.ts';
import { previousDetail } from '../previous-detail.ts';
import type { ClusterSnapshot } from '../snapshot.ts';
import { listNames } from '../status/list-names.ts';
import { isChange, recallBegun } from './begun.ts';
import type { Course } from './course.ts';

/** What an id says that is not of an operation which could be cancelled: else a person would wait for something to happen. */
export function explainUnheededCancel({ snapshot }: PlanView, course: Course): string | undefined {
  const id = readId(snapshot);
  const { cancelled, orchestration } = course;
  const begun = recallBegun(snapshot).filter(({ kind }) => isChange(kind));
  const isHeeded =
    cancelled.some((each) => each.request === id || each.id === id) || begun.some((one) => one.id === id);
  if (id === undefined || isHeeded) return undefined;
  if (orchestration?.id === id) return `${opening(id)} ${orchestration.kind} is a repair, which cannot be cancelled.`;
  const ended = (previousDetail(snapshot).orchestrationLog ?? []).find((entry) => entry.orchestration === id);
  const why = ended ? `${ended.kind} of this id has ended already.` : 'no operation that runs or waits has this id.';
  return `${opening(id)} ${why} ${advise(course)}`;
}

/** The condition has said so: the event was then. */
export function isUnheededCancelTold(snapshot: ClusterSnapshot): boolean {
  const { conditions = [] } = snapshot.cluster.status ?? {};
  const id = readId(snapshot) ?? '';
  return conditions.some(({ type, message }) => type === 'Progressing' && message.includes(opening(id)));
}

/** "true" is about whatever comes first, and "false" can only be meant as none. */
function readId({ cluster }: ClusterSnapshot): string | undefined {
  const request = cluster.metadata.annotations?.[annotations.cancel];
  return request === undefined || ['', 'true', 'false'].includes(request) ? undefined : request;
}

function opening(id: string): string {
  return `The annotation ${annotations.cancel} is "${id.slice(0, 64)}", but`;
}

function advise({ orchestration, pending }: Course): string {
  const all: { readonly kind: OrchestrationKind; readonly id?: string | undefined }[] = [
    ...(orchestration ? [orchestration] : []),
    ...pending,
  ];
  const names = all.filter(({ kind }) => isChange(kind)).map(({ kind, id }) => (id ? `${kind} ${id}` : kind));
  if (names.length === 0) return 'There is nothing to cancel: remove it.';
  return `There is ${listNames(names)}: set it to the id of what shall stop, to "true" for the first, or remove it.`;
}
