/**
 * Collection loses nothing: what a manifest newly names is in the bucket, and what is deleted is named by no manifest.
 * At the very end nothing is left that no manifest names.
 */
import { segmentIdOf } from '../../../src/core/queue-state.ts';
import { objectKey, objectsPrefix, parseObjectKey } from '../../../src/format/object-keys.ts';
import type { Ledger } from '../ledger.ts';
import type { DiffChecker } from './check.ts';

export function segmentsChecker(ledger: Ledger, present: (key: string) => boolean): DiffChecker {
  const named = (key: string): boolean => {
    const parts = parseObjectKey(key);
    const life = parts && ledger.incarnations.get(parts.incarnation);
    return life !== undefined && life.endedAt === undefined && life.state.segments.has(segmentIdOf(parts!));
  };
  return {
    name: 'segments are there while they are named, and go when they are not',
    diff: ({ before, after, incarnation }) => {
      for (const [id, { baseVersion, nonce }] of after.segments) {
        if (before?.segments.has(id)) continue;
        const { queue: name, id: incarnationId } = incarnation;
        if (!present(objectKey({ name, incarnation: incarnationId, kind: 'seg', baseVersion, nonce })))
          return `${name} names segment ${id}, which is not in the bucket`;
      }
      return undefined;
    },
    object: ({ key, present: written }) =>
      !written && named(key) ? `${key} was deleted while it was named` : undefined,
    finished: ({ keys }) => {
      const left = keys.filter((key) => key.startsWith(objectsPrefix) && !named(key));
      return left.length === 0 ? undefined : `${left.length} objects are left that nobody names: ${left[0]}`;
    },
  };
}
