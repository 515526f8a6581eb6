/**
 * Tags of a queue: what SQS accepts as keys and values, and the leaf that changes them. They mean nothing to okuri: kept,
 * shown, never read. Nothing is guessed here: a tag that AWS refuses is refused before any of its request is stored.
 *
 * Keys are told apart by case. The limits are AWS's; the manifest, rewritten with every commit, carries the tags, at
 * the very most 77 KB of them.
 */
import type { Command, CommandResult } from './command.ts';
import type { Draft } from './draft.ts';

export type QueueTags = ReadonlyMap<string, string>;

/** Why tags are refused; the surfaces word it. */
export type TagProblem =
  | 'too-many'
  | 'key-length'
  | 'key-characters'
  /** AWS keeps the prefix `aws:`, in any case, to itself. */
  | 'key-reserved'
  | 'value-length'
  | 'value-characters';

export const TAGS_MAX = 50;
/** Characters, not bytes. */
export const TAG_KEY_LENGTH_MAX = 128;
export const TAG_VALUE_LENGTH_MAX = 256;

/** Letters, digits and white space of any script, and `_ . : / = + - @`. */
const ALLOWED = /^[\p{L}\p{N}\p{Z}\s_.:/=+\-@]*$/u;
const RESERVED = /^aws:/i;

/** An emoji is one character here, though the language counts two. Long texts are not counted through. */
function longerThan(text: string, max: number): boolean {
  return text.length > max && (text.length > 2 * max || [...text].length > max);
}

function keyProblem(key: string): TagProblem | undefined {
  if (key === '' || longerThan(key, TAG_KEY_LENGTH_MAX)) return 'key-length';
  return ALLOWED.test(key) ? undefined : 'key-characters';
}

/** Of keys alone, as they are named to be removed. */
export function tagKeysProblem(keys: readonly string[]): TagProblem | undefined {
  return keys.map(keyProblem).find((problem) => problem !== undefined);
}

/** Of tags to be added; whether there is room beside those of the queue, `changeTags` tells. */
export function tagsProblem(tags: QueueTags): TagProblem | undefined {
  if (tags.size > TAGS_MAX) return 'too-many';
  for (const [key, value] of tags) {
    const problem = keyProblem(key);
    if (problem !== undefined) return problem;
    if (RESERVED.test(key)) return 'key-reserved';
    if (longerThan(value, TAG_VALUE_LENGTH_MAX)) return 'value-length';
    if (!ALLOWED.test(value)) return 'value-characters';
  }
  return undefined;
}

/** What CreateQueue asks of a queue that exists; those that it has besides are not compared, as with attributes. */
export function hasAllTags(tags: QueueTags, given: QueueTags): boolean {
  return [...given].every(([key, value]) => tags.get(key) === value);
}

/** All or nothing. Changes neither attributes nor the time of their last change. */
export function changeTags(draft: Draft, command: Command & { readonly kind: 'change-tags' }): CommandResult {
  const tags = new Map(draft.tags);
  for (const key of command.remove) tags.delete(key);
  for (const [key, value] of command.add) tags.set(key, value);
  if (tags.size > TAGS_MAX && command.add.size > 0)
    return { outcome: { kind: 'too-many-tags' }, effect: false };
  const changed =
    tags.size !== draft.tags.size || [...tags].some(([key, value]) => draft.tags.get(key) !== value);
  if (changed) draft.tags = tags;
  return { outcome: { kind: 'done' }, effect: changed };
}
