/**
 * In which order a receive of a FIFO queue considers what is visible: of one group as many messages as are near by, then of
 * the group whose turn is next, as SQS does. So a consumer that takes ten messages of a hundred interleaved groups holds
 * one group, not ten, and the others are left to others.
 *
 * A group's turn is its head's place in the queue: where it was sent, or, if it was received before and is visible again,
 * behind all that had been sent when it was received. So a group whose message is given back again and again keeps
 * no other waiting, nor is it kept waiting by what is sent later. Whatever was not looked at yet has its turn after what was.
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
  /** Looked at and not handed out, by group. */
  readonly #kept = new Map<GroupHash, Place[]>();
  #keptCount = 0;
  /** The walk has come to this sequence number. */
  #reached = 0;
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
      this.#group ??= this.#nextGroup();
      if (this.#group === undefined) return undefined;
      const candidate = this.#fromKept() ?? this.#ahead(this.#group);
      if (candidate) return candidate;
      this.#group = undefined;
    }
  }

  /** Whose turn it is. */
  #nextGroup(): GroupHash | undefined {
    let first: GroupHash | undefined;
    let turn = Number.POSITIVE_INFINITY;
    const consider = (group: GroupHash, head: Place) => {
      if (turnOf(head) < turn) [first, turn] = [group, turnOf(head)];
    };
    for (const [group, places] of this.#kept) consider(group, places[0]!);
    // What is further on has its turn further on.
    while (turn > this.#reached) {
      const next = this.#nextFree();
      if (!next) break;
      const before = first;
      if (!this.#kept.has(next.group)) consider(next.group, next.place);
      // Of what is only passed over, a bounded number is kept; its groups have to wait for another transition.
      if (this.#keptCount < FIFO_LOOK_AHEAD_MAX || first !== before) this.#keep(next);
      else this.#locks.lock(next.group, next.place.sequence);
    }
    return first;
  }

  #fromKept(): Candidate | undefined {
    const group = this.#group;
    const places = group === undefined ? undefined : this.#kept.get(group);
    if (group === undefined || !places) return undefined;
    const place = places[0]!;
    const isFree = !this.#locks.isBehind(group, place.sequence);
    // All that follow are behind as well.
    const gone = places.splice(0, isFree ? 1 : places.length);
    this.#keptCount -= gone.length;
    if (places.length === 0) this.#kept.delete(group);
    return isFree ? { place, group } : undefined;
  }

  /** The next of that group. */
  #ahead(group: GroupHash): Candidate | undefined {
    while (this.#keptCount < FIFO_LOOK_AHEAD_MAX) {
      const candidate = this.#nextFree();
      if (!candidate) return undefined;
      if (candidate.group === group) return candidate;
      this.#keep(candidate);
    }
    return undefined;
  }

  #keep({ group, place }: Candidate): void {
    const kept = this.#kept.get(group);
    if (kept) kept.push(place);
    else this.#kept.set(group, [place]);
    this.#keptCount++;
  }

  #nextFree(): Candidate | undefined {
    while (!this.#atEnd && this.#looked < this.#lookMax) {
      this.#looked++;
      const place = this.#walk.next();
      if (place) this.#reached = place.sequence;
      else this.#atEnd = true;
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

function turnOf(place: Place): number {
  return (place.kind === 'delivery' ? place.found.delivery.turn : undefined) ?? place.sequence;
}
