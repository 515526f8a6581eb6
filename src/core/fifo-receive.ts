/**
 * Receives of a FIFO queue: leases what is visible, group by group (fifo-order.ts), unless something of its message group
 * that comes before it is alive outside this very receive: in flight, under an intent, passed over, or taken by another
 * receive of the same commit (docs/design/0007-fifo.md). So one receive may take several consecutive messages of a
 * group, and no two consumers ever have messages of one group that overtook each other.
 *
 * On the way it ends messages whose retention is over and gives messages received too often to their dead-letter queue,
 * like a standard receive (receive.ts).
 */
import type { Command, CommandResult, Leased } from './command.ts';
import type { Draft } from './draft.ts';
import { FifoBodies } from './fifo-bodies.ts';
import { type Candidate, FifoOrder } from './fifo-order.ts';
import { FifoWalk, type Place } from './fifo-walk.ts';
import { GroupLocks } from './group-locks.ts';
import type { AttemptHash, GroupHash } from './ids.ts';
import { leasedOf, leaseMessage, placeholder, timeoutOf } from './lease.ts';
import type { PageReader } from './pages.ts';
import type { ReceiveAttempt, SegmentId } from './queue-state.ts';
import { handedOutAgain, handedOutBy, withoutAttempt } from './receive-attempts.ts';
import { considerMove, intend } from './redrive.ts';
import type { Resources } from './resources.ts';
import { isExpired } from './retention.ts';
import { stampOf } from './stamps.ts';

type Receive = Command & { readonly kind: 'receive' };

/** For all receives of one transition, which share one walk: whatever locked a group for the first does for the next. */
export class FifoReceiver {
  readonly neededTargets = new Set<string>();
  readonly #draft: Draft;
  readonly #resources: Resources;
  readonly #bodies: FifoBodies;
  readonly #locks: GroupLocks;
  readonly #walk: FifoWalk;
  readonly #order: FifoOrder;
  readonly #takenFromReady: number[] = [];
  /** By the present receive. */
  #taken: { readonly group: GroupHash; readonly sequence: number }[] = [];
  readonly #ofAttempts = new Map<AttemptHash, readonly number[]>();
  #unreadable = false;
  #changed = false;
  #inFlight: number;

  /** `wanted`: how many messages its receives ask for. */
  constructor(draft: Draft, resources: Resources, pages: PageReader, wanted: number) {
    this.#draft = draft;
    this.#resources = resources;
    this.#bodies = new FifoBodies(draft, resources, pages);
    this.#locks = new GroupLocks(draft);
    this.#walk = new FifoWalk(draft, this.#locks, pages);
    this.#order = new FifoOrder(this.#walk, this.#locks, this.#bodies, draft.limits.fifoLookMax);
    const bound = draft.limits.inFlightMax - wanted + 1;
    this.#inFlight = draft.deliveries.inFlight(draft.time.nowMillis, bound);
  }

  get neededSegments(): ReadonlySet<SegmentId> {
    return this.#bodies.neededSegments;
  }

  get neededGroups(): ReadonlySet<SegmentId> {
    return this.#bodies.neededGroups;
  }

  get takenFromReady(): readonly number[] {
    return this.#takenFromReady;
  }

  receive(command: Receive): CommandResult {
    const repeated = this.#repeat(command);
    if (repeated) return repeated;
    const messages: Leased[] = [];
    this.#order.begin();
    while (messages.length < command.maxMessages && this.#inFlight < this.#draft.limits.inFlightMax) {
      const candidate = this.#order.next();
      if (!candidate) break;
      const leased = this.#consider(candidate, command);
      if (leased) messages.push(leased);
    }
    for (const { group, sequence } of this.#taken) this.#locks.lock(group, sequence);
    this.#mark(command, messages.length);
    this.#taken = [];
    const effect = messages.length > 0 || this.#changed;
    this.#changed = false;
    const unreadable = this.#unreadable || this.#order.unreadable || this.#walk.unreadable;
    return { outcome: { kind: 'received', messages, unreadable }, effect };
  }

  /** Call after the last receive; again does no harm. */
  finish(): void {
    this.#draft.takeFromReady(this.#takenFromReady);
  }

  /** Hands out once more what a receive with the same attempt id did; undefined where there is nothing of it. */
  #repeat({ attempt, ...command }: Receive): CommandResult | undefined {
    const draft = this.#draft;
    const timeoutSeconds = timeoutOf(draft, command);
    // Without a timeout it would hold nothing, and the walk has begun: it would not see them visible.
    if (attempt === undefined || timeoutSeconds === 0) return undefined;
    const handedOut = handedOutBy(draft, attempt);
    if (handedOut.length === 0 || handedOut.length > command.maxMessages) return undefined;
    const messages: Leased[] = [];
    let unreadable = false;
    for (const { sequence, delivery } of handedOut) {
      const message = this.#bodies.body(sequence);
      if (message === 'unreadable') unreadable = true;
      else if (message === 'needed') messages.push(placeholder);
      else messages.push(leasedOf(draft, sequence, message, delivery));
    }
    if (unreadable) return { outcome: { kind: 'received', messages: [], unreadable }, effect: false };
    for (const found of handedOut) {
      const { sequence, delivery } = found;
      draft.deliveries.change(found, handedOutAgain(draft, delivery, timeoutSeconds));
      // It may have left a page, which does not lock its group any more.
      if (delivery.group !== undefined) this.#locks.lock(delivery.group, sequence);
    }
    return { outcome: { kind: 'received', messages, unreadable }, effect: true };
  }

  /** What was taken, for the next receive of the same attempt; what another of this transition took for it is that one's no more. */
  #mark({ attempt, ...command }: Receive, messages: number): void {
    if (attempt === undefined || messages === 0) return;
    // Nothing is held, so nothing can be repeated.
    if (timeoutOf(this.#draft, command) === 0) return;
    for (const sequence of this.#ofAttempts.get(attempt) ?? []) this.#remark(sequence, undefined);
    const sequences = this.#taken.map(({ sequence }) => sequence);
    this.#ofAttempts.set(attempt, sequences);
    for (const sequence of sequences) this.#remark(sequence, { id: attempt, messages, repeated: false });
  }

  #remark(sequence: number, attempt: ReceiveAttempt | undefined): void {
    const { deliveries } = this.#draft;
    const delivery = deliveries.inline.current.get(sequence);
    if (!delivery) return;
    deliveries.add(sequence, attempt ? { ...delivery, attempt } : withoutAttempt(delivery));
  }

  #consider({ place, group }: Candidate, command: Receive): Leased | undefined {
    const { sequence } = place;
    const draft = this.#draft;
    const previous = place.kind === 'delivery' ? place.found.delivery : undefined;
    const verdict = previous ? considerMove(draft, previous, this.#resources, this.neededTargets) : 'deliver';
    const body = verdict === 'wait' ? 'waits' : this.#bodies.body(sequence);
    if (body === 'needed') {
      // The walk goes on as if it were leased, so that one round of loading covers the whole batch.
      this.#taken.push({ group, sequence });
      return placeholder;
    }
    if (body === 'waits' || body === 'unreadable') {
      if (body === 'unreadable') this.#unreadable = true;
      this.#locks.lock(group, sequence);
      return undefined;
    }
    if (isExpired(draft, stampOf(body))) {
      this.#leave(place);
      draft.endBody(sequence);
      this.#changed = true;
      return undefined;
    }
    if (place.kind === 'delivery' && typeof verdict !== 'string') {
      intend(draft, place.found, verdict);
      this.#locks.lock(group, sequence);
      this.#changed = true;
      return undefined;
    }
    this.#leave(place);
    const { leased, inFlight } = leaseMessage(draft, sequence, body, previous, command);
    if (inFlight) this.#inFlight++;
    this.#taken.push({ group, sequence });
    return leased;
  }

  #leave(place: Place): void {
    if (place.kind === 'ready') this.#bodies.bringBack(place.sequence);
    if (this.#walk.take(place) === 'from-ready') this.#takenFromReady.push(place.sequence);
  }
}
