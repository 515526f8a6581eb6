/**
 * Attributes: an answered change is in the bucket, and every value that is there was asked for, by a change or by
 * the creation of that very queue.
 */
import { parseAttributes, type QueueAttributes } from '../../../src/core/queue-attributes.ts';
import { isFifoQueue } from '../fifo.ts';
import type { DiffChecker } from './check.ts';

interface Asked {
  readonly changes: QueueAttributes;
  /** Some state that landed since has them all. */
  seen: boolean;
}

export function attributesChecker(): DiffChecker {
  const open = new Map<string, Map<number, Asked>>();
  /** By queue: `<attribute>=<value>`. */
  const values = new Map<string, Set<string>>();
  const valuesOf = (queue: string) => {
    const known = values.get(queue) ?? new Set<string>();
    values.set(queue, known);
    return known;
  };
  return {
    name: 'attributes change as asked, and only so',
    arrived: ({ id, request }) => {
      if (request.kind !== 'attributes' && request.kind !== 'create') return undefined;
      const { queue } = request;
      const way = request.kind === 'create' ? 'create' : 'set';
      const parsed = parseAttributes(new Map(Object.entries(request.attributes)), way, isFifoQueue(queue));
      if (parsed.kind === 'problem') return undefined;
      for (const [name, value] of parsed.attributes) valuesOf(queue).add(`${name}=${value}`);
      if (request.kind === 'create') return undefined;
      const calls = open.get(queue) ?? new Map<number, Asked>();
      open.set(queue, calls);
      calls.set(id, { changes: parsed.attributes, seen: false });
      return undefined;
    },
    diff: ({ after, incarnation: { queue } }) => {
      for (const [name, value] of after.attributes)
        if (!valuesOf(queue).has(`${name}=${value}`)) return `${queue}: nobody asked for ${name} ${value}`;
      const calls = [...(open.get(queue)?.values() ?? [])];
      for (const asked of calls)
        asked.seen ||= [...asked.changes].every(([name, value]) => {
          const now = after.attributes.get(name) ?? '';
          // Another change in the same commit may have come after it.
          return now === value || calls.some((other) => other !== asked && other.changes.get(name) === now);
        });
      return undefined;
    },
    answered: ({ id, request }, answer) => {
      if (request.kind !== 'attributes') return undefined;
      const asked = open.get(request.queue)?.get(id);
      open.get(request.queue)?.delete(id);
      if (answer.kind !== 'done' || !asked || asked.seen) return undefined;
      return `call ${id}: answered, and no manifest since has ${JSON.stringify(request.attributes)}`;
    },
  };
}
