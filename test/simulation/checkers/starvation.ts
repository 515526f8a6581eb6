/**
 * No node is starved: while sends wait on a node and the store answers it, it lands commits. What a fault took from a
 * node (a lost answer, a pause, a slow spell) is not held against anybody: then the time begins anew.
 */
import type { Circumstances } from './all.ts';
import type { DiffChecker } from './check.ts';

/** Whoever was told 503 comes again within that. */
const retryMillisMax = 2_000;

interface Waiting {
  /** Since then it has landed nothing, and somebody waited. */
  since: number;
  readonly calls: Set<number>;
  /** When the last call was answered by a 503. */
  leftAt: number;
}

export function starvationChecker(
  world: Pick<Circumstances, 'undisturbedSince' | 'droughtMillisMax'>,
): DiffChecker {
  /** By node and queue. */
  const waiting = new Map<string, Waiting & { readonly node: number; readonly queue: string }>();
  return {
    name: 'no node is starved',
    arrived: ({ id, node, request, arrivedAt }) => {
      if (request.kind !== 'send') return undefined;
      const key = `${node} ${request.queue}`;
      const known = waiting.get(key);
      const entry = known ?? {
        node,
        queue: request.queue,
        since: arrivedAt,
        calls: new Set(),
        leftAt: arrivedAt,
      };
      if (!known) waiting.set(key, entry);
      else if (entry.calls.size === 0 && arrivedAt - entry.leftAt > retryMillisMax) entry.since = arrivedAt;
      entry.calls.add(id);
      return undefined;
    },
    answered: ({ id, node, request }, answer, at) => {
      if (request.kind !== 'send') return undefined;
      const key = `${node} ${request.queue}`;
      const entry = waiting.get(key);
      entry?.calls.delete(id);
      if (entry?.calls.size !== 0) return undefined;
      if (answer.kind === 'unavailable') entry.leftAt = at;
      else waiting.delete(key);
      return undefined;
    },
    landed: ({ at, node, queue }) => {
      const landed = waiting.get(`${node} ${queue}`);
      for (const entry of waiting.values()) {
        if (entry.calls.size === 0) continue;
        const drought = at - Math.max(entry.since, world.undisturbedSince(entry.node));
        if (drought > world.droughtMillisMax)
          return `n${entry.node} has landed nothing on ${entry.queue} for ${drought.toFixed(0)} ms, and ${entry.calls.size} sends wait`;
      }
      if (landed) landed.since = at;
      return undefined;
    },
    killed: (node) => {
      for (const [key, entry] of waiting) if (entry.node === node) waiting.delete(key);
    },
  };
}
