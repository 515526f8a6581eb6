/**
 * The register: versions of an incarnation rise by one, a name changes hands only by a tombstone of the incarnation
 * that was there, and every state and every step that landed keeps the rules of core/invariants.ts and its bounds.
 */
import { brokenState, brokenStep } from '../../../src/core/invariants.ts';
import type { QueueLimits } from '../../../src/core/limits.ts';
import type { DiffChecker } from './check.ts';

/** DESIGN.md section 4. */
const manifestBytesMax = 1024 * 1024;

export function registerChecker(limits: QueueLimits): DiffChecker {
  return {
    name: 'every swap keeps the invariants',
    landed: ({ before, after, bytes, queue }) => {
      if (bytes > manifestBytesMax) return `the manifest of ${queue} has ${bytes} bytes`;
      if (after === undefined)
        return before?.kind === 'queue' ? `the manifest of ${queue} was deleted` : undefined;
      if (after.kind === 'tombstone') {
        if (before?.kind !== 'queue') return `a tombstone of ${queue} replaced no queue`;
        const buried = after.tombstone.buriedIncarnation;
        return buried === before.state.incarnation
          ? undefined
          : `the tombstone of ${queue} buries another queue`;
      }
      const { state } = after;
      const same = before?.kind === 'queue' ? before.state : undefined;
      if (same) {
        const broken = brokenStep(same, state);
        if (broken) return `${queue}: ${broken}`;
      } else if (state.version !== 1) return `${queue} begins with version ${state.version}`;
      let tailBytes = 0;
      for (const entry of state.tail.values()) tailBytes += entry.bytes;
      if (tailBytes > limits.tailBytesMax) return `the tail of ${queue} has ${tailBytes} bytes`;
      if (state.writers.length > limits.writersMax)
        return `${queue} remembers ${state.writers.length} writers`;
      if (state.intents.size > limits.intentsMax) return `${queue} has ${state.intents.size} moves under way`;
      const broken = brokenState(state);
      return broken ? `${queue}: ${broken}` : undefined;
    },
  };
}
