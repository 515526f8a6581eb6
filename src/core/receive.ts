/**
 * Receives of a standard queue: leases visible messages, oldest first but for message groups (fair-walk.ts), each with a
 * token of its own. On the way it ends messages whose retention is over and gives messages received too often to their dead-letter queue (redrive.ts), also when the
 * receive itself then returns nothing.
 */
import type { Command, CommandResult, Leased } from './command.ts';
import type { Draft } from './draft.ts';
import { FairWalk } from './fair-walk.ts';
import { leaseMessage, placeholder } from './lease.ts';
import type { StoredMessage } from './message.ts';
import type { FoundDelivery } from './open-lease-page.ts';
import type { PageReader } from './pages.ts';
import type { SegmentId } from './queue-state.ts';
import { considerMove, intend } from './redrive.ts';
import type { Resources } from './resources.ts';
import { isExpired } from './retention.ts';
import { segmentsPageAround, unfoldSegments } from './segments-pages.ts';
import { stampOf, withStampShifted } from './stamps.ts';
import type { Visible } from './visible.ts';

type Receive = Command & { readonly kind: 'receive' };

type Body =
  | { readonly kind: 'message'; readonly message: StoredMessage }
  /** `segment`: undefined when it is the page with its reference that has to be loaded. */
  | { readonly kind: 'needed'; readonly segment: SegmentId | undefined }
  | { readonly kind: 'unreadable' };

type Place = NonNullable<ReturnType<Draft['locate']>>;

/** Leases for all receives of one transition, which share one walk over the visible messages. */
export class Receiver {
  readonly neededSegments = new Set<SegmentId>();
  readonly neededTargets = new Set<string>();
  readonly neededGroups: ReadonlySet<SegmentId> = new Set();
  readonly #draft: Draft;
  readonly #resources: Resources;
  readonly #pages: PageReader;
  readonly #ready: FairWalk;
  readonly #visible: Generator<Visible, void, undefined>;
  readonly #takenFromReady: number[] = [];
  #unreadable = false;
  #moved = false;
  #ended = false;
  #inFlight = 0;

  /** `wanted`: how many messages its receives ask for. */
  constructor(draft: Draft, resources: Resources, pages: PageReader, wanted: number) {
    this.#draft = draft;
    this.#resources = resources;
    this.#pages = pages;
    this.#ready = new FairWalk(draft, pages);
    this.#visible = draft.visible(this.#ready);
    const bound = draft.limits.inFlightMax - wanted + 1;
    this.#inFlight = draft.deliveries.inFlight(draft.time.nowMillis, bound);
  }

  receive(command: Receive): CommandResult {
    const { inFlightMax } = this.#draft.limits;
    if (this.#inFlight >= inFlightMax) {
      if (!command.waits) return { outcome: { kind: 'over-limit' }, effect: false };
      return { outcome: { kind: 'received', messages: [], unreadable: false }, effect: false };
    }
    const messages: Leased[] = [];
    while (messages.length < command.maxMessages && this.#inFlight < inFlightMax) {
      const next = this.#visible.next();
      if (next.done) break;
      const leased = this.#take(next.value, command);
      if (leased) messages.push(leased);
    }
    const effect = messages.length > 0 || this.#moved || this.#ended;
    this.#moved = false;
    this.#ended = false;
    return {
      outcome: { kind: 'received', messages, unreadable: this.#unreadable || this.#pages.unreadable },
      effect,
    };
  }

  /** Call once after the last receive. */
  finish(): void {
    this.#draft.takeFromReady(this.#takenFromReady);
    this.#draft.fairness.handedOut(this.#ready.quietInARow);
  }

  #take({ sequence, found }: Visible, command: Receive): Leased | undefined {
    const draft = this.#draft;
    const previous = found?.delivery;
    const verdict = previous ? considerMove(draft, previous, this.#resources, this.neededTargets) : 'deliver';
    // Also before its body is asked for, or a crowd of waiting letters would have all their segments loaded.
    if (verdict === 'wait') return undefined;
    const body = this.#body(sequence);
    if (body.kind === 'needed') {
      // The walk goes on as if it were leased, so that one round of loading covers the whole batch.
      if (body.segment !== undefined) this.neededSegments.add(body.segment);
      return placeholder;
    }
    // Nor may it become a dead letter: letters leave in the order of their numbers, and one that can't be read
    // would hold up all behind it.
    if (body.kind === 'unreadable') {
      this.#unreadable = true;
      return undefined;
    }
    if (isExpired(draft, stampOf(body.message))) {
      this.#leave(sequence, found);
      draft.endBody(sequence);
      this.#ended = true;
      return undefined;
    }
    if (found && verdict !== 'deliver') {
      intend(draft, found, verdict);
      this.#moved = true;
      return undefined;
    }
    this.#leave(sequence, found);
    const { leased, inFlight } = leaseMessage(draft, sequence, body.message, previous, command);
    if (inFlight) this.#inFlight++;
    return leased;
  }

  #leave(sequence: number, found: FoundDelivery | undefined): void {
    if (found) {
      this.#draft.deliveries.end(found);
      return;
    }
    this.#draft.fairness.left(sequence);
    if (!this.#draft.delayed.delete(sequence)) this.#takenFromReady.push(sequence);
  }

  #body(sequence: number): Body {
    const inline = this.#draft.tail.current.get(sequence);
    if (inline) return { kind: 'message', message: inline.message };
    const place = this.#place(sequence);
    if ('kind' in place) return place;
    const body = this.#resources.body(place.segment, place.ordinal);
    if (body === 'needed') return { kind: 'needed', segment: place.segment };
    if (body === 'unreadable') return { kind: 'unreadable' };
    return { kind: 'message', message: withStampShifted(body, place.run.sentAtShiftMillis) };
  }

  #place(sequence: number): Place | (Body & { readonly kind: 'needed' | 'unreadable' }) {
    const place = this.#draft.locate(sequence);
    if (place) return place;
    const page = segmentsPageAround(this.#draft, sequence);
    if (!page) throw new Error(`no body for sequence ${sequence}`);
    if (unfoldSegments(this.#draft, page.id, this.#pages)) return this.#place(sequence);
    if (this.#pages.needed.has(page.id)) return { kind: 'needed', segment: undefined };
    // Millions may be in there.
    this.#ready.skipTo(page.lastSequence + 1);
    return { kind: 'unreadable' };
  }
}
