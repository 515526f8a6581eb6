/**
 * Receives of a standard queue: leases visible messages, oldest first but for message groups (fair-walk.ts), each with a
 * token of its own. On the way it ends messages whose retention is over and gives messages received too often to their dead-letter queue (redrive.ts), also when the
 * receive itself then returns nothing.
 */
import type { Command, CommandResult, Leased } from './command.ts';
import type { Draft } from './draft.ts';
import { leaseMessage, placeholder } from './lease.ts';
import type { PageReader } from './pages.ts';
import type { SegmentId } from './queue-state.ts';
import { considerMove, intend } from './redrive.ts';
import type { Resources } from './resources.ts';
import { isExpired } from './retention.ts';
import { stampOf } from './stamps.ts';
import { StandardWalk } from './standard-walk.ts';
import type { Visible } from './visible.ts';

type Receive = Command & { readonly kind: 'receive' };

/** Leases for all receives of one transition, which share one walk over the visible messages. */
export class Receiver {
  readonly neededSegments = new Set<SegmentId>();
  readonly neededTargets = new Set<string>();
  readonly neededGroups: ReadonlySet<SegmentId> = new Set();
  readonly #draft: Draft;
  readonly #resources: Resources;
  readonly #pages: PageReader;
  readonly #walk: StandardWalk;
  #unreadable = false;
  #moved = false;
  #ended = false;
  #inFlight = 0;

  /** `wanted`: how many messages its receives ask for. */
  constructor(draft: Draft, resources: Resources, pages: PageReader, wanted: number) {
    this.#draft = draft;
    this.#resources = resources;
    this.#pages = pages;
    this.#walk = new StandardWalk(draft, resources, pages);
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
      const next = this.#walk.next();
      if (!next) break;
      const leased = this.#take(next, command);
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

  /** Call after the last receive. */
  finish(): void {
    this.#walk.finish();
  }

  #take(visible: Visible, command: Receive): Leased | undefined {
    const { sequence, found } = visible;
    const draft = this.#draft;
    const previous = found?.delivery;
    const verdict = previous ? considerMove(draft, previous, this.#resources, this.neededTargets) : 'deliver';
    // Also before its body is asked for, or a crowd of waiting letters would have all their segments loaded.
    if (verdict === 'wait') return undefined;
    const body = this.#walk.body(sequence);
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
      this.#walk.leave(visible);
      draft.endBody(sequence);
      this.#ended = true;
      return undefined;
    }
    if (found && verdict !== 'deliver') {
      intend(draft, found, verdict);
      this.#moved = true;
      return undefined;
    }
    this.#walk.leave(visible);
    const { leased, inFlight } = leaseMessage(draft, sequence, body.message, previous, command);
    if (inFlight) this.#inFlight++;
    return leased;
  }
}
