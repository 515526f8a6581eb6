/**
 * The register: versions of an incarnation rise by one, a name changes hands only by a tombstone of the incarnation
 * that was there, and every state and every step that landed keeps the rules of core/invariants.ts.
 */
import { brokenState, brokenStep } from '../../../src/core/invariants.ts';
import type { DiffChecker } from './check.ts';

export function registerChecker(): DiffChecker {
  return {
    name: 'every swap keeps the invariants',
    landed: ({ before, after, storedBefore, storedAfter, queue }) => {
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
        const broken = brokenStep(same, state) ?? brokenStep(storedBefore!, storedAfter!);
        if (broken) return `${queue}: ${broken}`;
      } else if (state.version !== 1) return `${queue} begins with version ${state.version}`;
      const broken = brokenState(state);
      return broken ? `${queue}: ${broken}` : undefined;
    },
  };
}
