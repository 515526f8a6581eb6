/**
 * In which order a receive of a FIFO queue considers what is visible: of one group as many messages as are near by, then of
 * the group whose head comes next, as SQS does. So a consumer that takes ten messages of a hundred interleaved groups holds
 * one group, not ten, and the others are left to others.
 *
 * It looks ahead a bounded number of messages past what it has handed out, and keeps what it passes over for later, also
 * for the next receive of the transition.
 */
import type { FifoBodies } from './fifo-bodies.ts';
import type { FifoWalk, Place } from './fifo-walk.ts';
import type { GroupLocks } from './group-locks.ts';
import type { GroupHash } from './ids.ts';
import { FIFO_LOOK_AHEAD_MAX } from './limits.ts';

export interface Candidate {
  readonly place: Place;
  readonly group: GroupHash;
}

export class FifoOrder {
  /** It ended before a message of which nobody can tell the group. */
  unreadable = false;
  readonly #walk: FifoWalk;
  readonly #locks: GroupLocks;
  readonly #bodies: FifoBodies;
  readonly #lookMax: number;
  /** Looked at and not handed out, by group; the groups in order of these heads. */
  readonly #kept = new Map<GroupHash, Place[]>();
  #keptCount = 0;
  /** Whose messages are handed out now. */
  #group: GroupHash | undefined;
  #looked = 0;
  #atEnd: boolean;

  constructor(walk: FifoWalk, locks: GroupLocks, bodies: FifoBodies, lookMax: number) {
    this.#walk = walk;
    this.#locks = locks;
    this.#bodies = bodies;
    this.#lookMax = lookMax;
    this.#atEnd = locks.incomplete;
  }

  /** For another receive: the groups of the last one are locked by now. */
  begin(): void {
    this.#group = undefined;
  }

  /** A message that nothing of its group comes before. */
  next(): Candidate | undefined {
    for (;;) {
      this.#group ??= this.#kept.keys().next().value;
      const candidate = this.#fromKept() ?? this.#ahead();
      if (candidate) {
        this.#group = candidate.group;
        return candidate;
      }
      if (this.#kept.size === 0) return undefined;
      this.#group = undefined;
    }
  }

  #fromKept(): Candidate | undefined {
    const group = this.#group;
    const places = group === undefined ? undefined : this.#kept.get(group);
    if (group === undefined || !places) return undefined;
    const place = places.shift();
    if (place && !this.#locks.isBehind(group, place.sequence)) {
      this.#keptCount--;
      return { place, group };
    }
    // All that follow are behind as well.
    this.#kept.delete(group);
    this.#keptCount -= places.length + (place ? 1 : 0);
    return undefined;
  }

  /** The next of the present group; of any, when there is none. */
  #ahead(): Candidate | undefined {
    while (this.#keptCount < FIFO_LOOK_AHEAD_MAX) {
      const candidate = this.#nextFree();
      if (!candidate) return undefined;
      if (this.#group === undefined || candidate.group === this.#group) return candidate;
      const kept = this.#kept.get(candidate.group);
      if (kept) kept.push(candidate.place);
      else this.#kept.set(candidate.group, [candidate.place]);
      this.#keptCount++;
    }
    return undefined;
  }

  #nextFree(): Candidate | undefined {
    while (!this.#atEnd && this.#looked < this.#lookMax) {
      this.#looked++;
      const place = this.#walk.next();
      if (!place) this.#atEnd = true;
      const group = place && this.#groupOf(place);
      if (place && group !== undefined && !this.#locks.isBehind(group, place.sequence))
        return { place, group };
    }
    return undefined;
  }

  /** Undefined: it is not known, and nothing after it may be taken. */
  #groupOf(place: Place): GroupHash | undefined {
    const delivered = place.kind === 'delivery' ? place.found.delivery.group : undefined;
    const group = delivered ?? this.#bodies.group(place.sequence);
    if (group === 'unreadable') {
      this.unreadable = true;
      this.#atEnd = true;
      return undefined;
    }
    if (group === 'needed') {
      // Only to ask for what comes next, too.
      if (this.#bodies.enoughNeeded) this.#atEnd = true;
      return undefined;
    }
    return this.#bodies.neededGroups.size > 0 ? undefined : group;
  }
}
