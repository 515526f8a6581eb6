/** Commands on their way into a commit, and receives that wait for messages. */
import type { Command, CommandOutcome } from '../core/command.ts';
import { batchBytesMax, batchDeliveriesMax } from './settings.ts';
import { deliveriesOf } from './wanted.ts';

/** `loop-ended`: the incarnation is over and the command was never tried; its name may hold another queue. */
export type LoopOutcome = CommandOutcome | { readonly kind: 'loop-ended' };

export interface PendingCommand {
  readonly command: Command;
  /** Monotonic; a parked poll counts from its waking. */
  readonly arrivedAt: number;
  /** Bytes of messages it carries. */
  readonly bytes: number;
  readonly poll: Poll | undefined;
  readonly answer: (outcome: LoopOutcome) => void;
  readonly fail: (error: unknown) => void;
}

export interface Poll {
  /** Monotonic. A queue's own wait may change while a receive waits, or be known too late. */
  readonly deadline: () => number;
  readonly signal: AbortSignal;
}

export interface ReceiveOptions {
  /** Undefined: the queue's own ReceiveMessageWaitTimeSeconds. */
  readonly waitSeconds: number | undefined;
  /** When the call came, monotonic: it may come to a second loop when the first one ends. */
  readonly since: number;
  readonly signal: AbortSignal;
}

export const nothingReceived: CommandOutcome = { kind: 'received', messages: [], unreadable: false };

/** The first of them, as many as one commit may take; one of any size. */
export function fittingBatch(pending: readonly PendingCommand[]): {
  readonly count: number;
  readonly bytes: number;
  /** For deliveries besides. */
  readonly room: number;
} {
  let count = 0;
  let bytes = 0;
  let deliveries = 0;
  for (const next of pending) {
    const own = deliveriesOf(next.command);
    if (count > 0 && (bytes + next.bytes > batchBytesMax || deliveries + own > batchDeliveriesMax)) break;
    bytes += next.bytes;
    deliveries += own;
    count++;
  }
  return { count, bytes, room: batchDeliveriesMax - deliveries };
}

/** Into a commit, where their age counts from now. */
export function awake(waiters: readonly PendingCommand[], arrivedAt: number): PendingCommand[] {
  return waiters.map((waiter) => ({ ...waiter, arrivedAt }));
}

/** Parked receives, first come first served. */
export class ReceiveWaiters {
  #waiters: PendingCommand[] = [];

  get size(): number {
    return this.#waiters.length;
  }

  park(waiter: PendingCommand): void {
    this.#waiters.push(waiter);
  }

  /** Those that took part in a commit in vain keep their turn. */
  parkFirst(waiters: readonly PendingCommand[]): void {
    this.#waiters = [...waiters, ...this.#waiters];
  }

  /** `deliveriesMax`: what those together may make. */
  take(count: number, deliveriesMax = Number.POSITIVE_INFINITY): PendingCommand[] {
    if (deliveriesMax === Number.POSITIVE_INFINITY) return this.#waiters.splice(0, count);
    let taken = 0;
    let deliveries = 0;
    while (taken < Math.min(count, this.#waiters.length)) {
      deliveries += deliveriesOf(this.#waiters[taken]!.command);
      if (deliveries > deliveriesMax) break;
      taken++;
    }
    return this.#waiters.splice(0, taken);
  }

  /** Those whose time is up or whose client has gone: they wait no more. */
  takeExpired(monotonicMillis: number): PendingCommand[] {
    const expired: PendingCommand[] = [];
    const staying: PendingCommand[] = [];
    for (const waiter of this.#waiters) {
      const { deadline, signal } = waiter.poll!;
      (deadline() <= monotonicMillis || signal.aborted ? expired : staying).push(waiter);
    }
    this.#waiters = staying;
    return expired;
  }

  endExpired(monotonicMillis: number): void {
    for (const waiter of this.takeExpired(monotonicMillis)) waiter.answer(nothingReceived);
  }

  earliestDeadline(): number {
    return this.#waiters.reduce(
      (least, { poll }) => Math.min(least, poll!.deadline()),
      Number.POSITIVE_INFINITY,
    );
  }
}

/** What a command is refused with that a page which can't be read would decide. */
export function unreadableWords(kind: Command['kind']): string {
  if (kind === 'send') return 'whether its deduplication ids are taken is in a page that cannot be read';
  if (kind === 'set-attributes') return 'what is delayed is in a page that cannot be read';
  return 'what these handles hold is in a page that cannot be read';
}
