/**
 * Queues: created, exists, missing and deleted are said only when that was so at some instant of the call; one
 * delete call ends at most one incarnation, one create call makes at most one queue, and no other cause does.
 */
import type { CallAnswer } from '../history.ts';
import type { DiffChecker } from './check.ts';

interface Span {
  readonly from: number;
  readonly exists: boolean;
}

export function existenceChecker(): DiffChecker {
  const spans = new Map<string, Span[]>();
  const counts = new Map<string, { creates: number; deletes: number; created: number; deleted: number }>();
  const of = (queue: string) => {
    const known = counts.get(queue) ?? { creates: 0, deletes: 0, created: 0, deleted: 0 };
    counts.set(queue, known);
    return known;
  };
  const was = (queue: string, exists: boolean, from: number): boolean => {
    const known = spans.get(queue) ?? [{ from: 0, exists: false }];
    return known.some(
      (span, index) => span.exists === exists && (known[index + 1]?.from ?? Number.POSITIVE_INFINITY) >= from,
    );
  };
  const happened = (queue: string, exists: boolean, from: number): boolean =>
    (spans.get(queue) ?? []).some((span) => span.exists === exists && span.from >= from);
  return {
    name: 'a queue is created, deleted and missed only in truth',
    arrived: ({ request }) => {
      if (request.kind === 'create') of(request.queue).creates++;
      if (request.kind === 'delete-queue') of(request.queue).deletes++;
      return undefined;
    },
    landed: ({ queue, at, before, after }) => {
      const known = spans.get(queue) ?? [{ from: 0, exists: false }];
      spans.set(queue, known);
      const counted = of(queue);
      const created = after?.kind === 'queue' && before?.kind !== 'queue';
      const deleted = before?.kind === 'queue' && after?.kind === 'tombstone';
      if (created) counted.created++;
      if (deleted) counted.deleted++;
      if (created || deleted) known.push({ from: at, exists: created });
      // A create looks again after a lost race, so one call may make several tries, each of another incarnation.
      if (counted.deleted > counted.deletes) return `${queue} was deleted more often than asked`;
      if (created && counted.creates === 0) return `${queue} was created and nobody asked`;
      return undefined;
    },
    answered: ({ request, arrivedAt, id }, answer: CallAnswer) => {
      const { queue, kind } = request;
      if (answer.kind === 'queue-missing' && !was(queue, false, arrivedAt))
        return `call ${id} (${kind}): ${queue} was there all the time and was called missing`;
      if (answer.kind === 'created' && !happened(queue, true, arrivedAt))
        return `call ${id}: nothing was created`;
      if (kind === 'create' && answer.kind === 'exists' && !was(queue, true, arrivedAt))
        return `call ${id}: ${queue} was never there`;
      if (kind === 'delete-queue' && answer.kind === 'done' && !happened(queue, false, arrivedAt))
        return `call ${id}: the deletion of ${queue} was answered and is not in the bucket`;
      // An empty receive may rest on what the polling schedule last saw (DESIGN.md section 3, rule 5).
      const empty = 'messages' in answer && answer.messages.length === 0;
      if (
        !empty &&
        kind !== 'create' &&
        kind !== 'delete-queue' &&
        answer.kind === 'done' &&
        !was(queue, true, arrivedAt)
      )
        return `call ${id} (${kind}): done on a queue that was not there`;
      return undefined;
    },
  };
}
