/**
 * Collection loses nothing: what a manifest newly names is in the bucket, and what is deleted is named by no manifest.
 * At the very end nothing is left that no manifest names.
 */
import { namedBy, nameOf, names } from '../../../src/engine/named-objects.ts';
import { objectKey, objectsPrefix, parseObjectKey } from '../../../src/format/object-keys.ts';
import type { Ledger } from '../ledger.ts';
import type { DiffChecker } from './check.ts';

export function segmentsChecker(ledger: Ledger, present: (key: string) => boolean): DiffChecker {
  const named = (key: string): boolean => {
    const parts = parseObjectKey(key);
    const life = parts && ledger.incarnations.get(parts.incarnation);
    if (life === undefined || life.endedAt !== undefined) return false;
    // Directly, or through a page.
    return names(life.stored, parts!) || names(life.state, parts!);
  };
  return {
    name: 'segments are there while they are named, and go when they are not',
    diff: ({
      landing: { storedBefore },
      before,
      after,
      incarnation: { queue: name, id: incarnation, stored },
    }) => {
      const same = storedBefore?.incarnation === incarnation ? storedBefore : undefined;
      for (const object of [...namedBy(stored), ...namedBy(after)]) {
        if ((same && names(same, object)) || (before && names(before, object))) continue;
        if (!present(objectKey({ name, incarnation, ...object })))
          return `${name} names ${nameOf(object)}, which is not in the bucket`;
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
