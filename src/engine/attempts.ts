/**
 * What became of swap attempts whose answer was no proof: 412 and 409 (an earlier copy may have landed), timeouts,
 * 5xx, resets. Judged by a manifest read after them, before anything is applied again (DESIGN.md section 3 †):
 *
 *   1. attempt 5 is sent, lands, and its answer is lost;
 *   2. attempt 6 of the same commands is sent on the same base and gets 412;
 *   3. had 6 been applied anew at once, every command of the batch would have happened twice.
 *
 * Each attempt aims at one version; once a version as high is seen it can never land any more, because its base tag
 * is gone for ever (bytes never repeat).
 */
import type { CommandResult } from '../core/command.ts';
import type { Incarnation, WriterId } from '../core/ids.ts';
import type { ManifestContent, Tombstone } from '../core/queue-state.ts';

export interface Attempt {
  readonly number: number;
  /** The version that its swap would make. */
  readonly version: number;
  readonly next: ManifestContent;
  readonly results: readonly CommandResult[];
}

export type AttemptVerdict =
  /** This one took effect: its outcomes are the batch's. */
  | { readonly kind: 'landed'; readonly attempt: Attempt }
  /** The writer's entry may have been pruned: whether it landed can't be told. Never apply the batch again. */
  | { readonly kind: 'lost-track' }
  /** None landed so far; `open` ones still may, all others never will. */
  | { readonly kind: 'none'; readonly open: readonly Attempt[] };

/** `fresh` was read after every attempt ended; undefined when nothing is stored under the key. */
export function judgeAttempts(
  attempts: readonly Attempt[],
  fresh: ManifestContent | undefined,
  writer: WriterId,
  incarnation: Incarnation,
): AttemptVerdict {
  if (attempts.length === 0) return { kind: 'none', open: [] };
  if (fresh?.kind === 'queue' && fresh.state.incarnation === incarnation)
    return judgeByWriters(attempts, fresh.state, writer);
  if (fresh?.kind === 'tombstone' && fresh.tombstone.buriedIncarnation === incarnation)
    return judgeByTombstone(attempts, fresh.tombstone, writer);
  return { kind: 'lost-track' };
}

/** What aimed above the last version never landed: the tombstone took its base. Below it the writers are lost. */
function judgeByTombstone(
  attempts: readonly Attempt[],
  tombstone: Tombstone,
  writer: WriterId,
): AttemptVerdict {
  const closing = attempts.find((attempt) => attempt.number === tombstone.closingAttempt);
  if (tombstone.closingWriter === writer && closing?.next.kind === 'tombstone')
    return { kind: 'landed', attempt: closing };
  const never = attempts.every((attempt) => attempt.version > tombstone.buriedVersion);
  return never ? { kind: 'none', open: [] } : { kind: 'lost-track' };
}

function judgeByWriters(
  attempts: readonly Attempt[],
  state: (ManifestContent & { readonly kind: 'queue' })['state'],
  writer: WriterId,
): AttemptVerdict {
  const entry = state.writers.find((candidate) => candidate.id === writer);
  const landed = entry && attempts.find((attempt) => attempt.number === entry.attempt);
  if (landed) return { kind: 'landed', attempt: landed };
  const open = attempts.filter((attempt) => attempt.version > state.version);
  const pruned =
    !entry && attempts.some((a) => a.version <= state.version && a.version <= state.writersFloor);
  return pruned ? { kind: 'lost-track' } : { kind: 'none', open };
}
