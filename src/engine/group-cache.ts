/**
 * The groups of messages of FIFO queues, by segment and ordinal, least recently used first out, for the whole process. A
 * receive passes over all messages of locked groups at the head of its queue: their bodies would fill the cache of bodies,
 * their groups take a few dozen bytes a message.
 */
import type { GroupHash, Incarnation } from '../core/ids.ts';
import { groupHashesOf } from '../core/message-groups.ts';
import type { SegmentId } from '../core/queue-state.ts';

/** Messages: 8 of the longest stretches that a receive looks through. */
const messagesMax = 1_000_000;

export class GroupCache {
  readonly #kept = new Map<string, readonly GroupHash[]>();
  readonly #messagesMax: number;
  #messages = 0;

  constructor(max = messagesMax) {
    this.#messagesMax = max;
  }

  get(incarnation: Incarnation, segment: SegmentId): readonly GroupHash[] | undefined {
    const key = `${incarnation}/${segment}`;
    const hashes = this.#kept.get(key);
    if (!hashes) return undefined;
    this.#kept.delete(key);
    this.#kept.set(key, hashes);
    return hashes;
  }

  keep(
    incarnation: Incarnation,
    segment: SegmentId,
    groupIds: Iterable<string | undefined>,
  ): readonly GroupHash[] {
    const key = `${incarnation}/${segment}`;
    const hashes = groupHashesOf(groupIds);
    this.#messages += hashes.length - (this.#kept.get(key)?.length ?? 0);
    this.#kept.delete(key);
    this.#kept.set(key, hashes);
    for (const [oldest, old] of this.#kept) {
      if (this.#messages <= this.#messagesMax || oldest === key) break;
      this.#kept.delete(oldest);
      this.#messages -= old.length;
    }
    return hashes;
  }
}
