/**
 * The life of every message, read off the manifests that landed: where checkers look things up. It judges nothing but
 * what it needs to keep its own books.
 */
import type { Incarnation } from '../../src/core/ids.ts';
import type { StoredMessage } from '../../src/core/message.ts';
import type { QueueState } from '../../src/core/queue-state.ts';
import { iterate } from '../../src/core/range-set.ts';
import { locate, runIndexOf } from '../../src/core/run-index.ts';
import { withStampShifted } from '../../src/core/stamps.ts';
import { objectKey } from '../../src/format/object-keys.ts';
import { type DecodedSegment, decodeSegment } from '../../src/format/segment-codec.ts';
import type { Landing } from './history.ts';

export interface MessageLife {
  readonly incarnation: Incarnation;
  readonly sequence: number;
  readonly message: StoredMessage;
  readonly bornAt: number;
  readonly moved: boolean;
}

export interface IncarnationLife {
  readonly id: Incarnation;
  readonly queue: string;
  readonly bornAt: number;
  endedAt: number | undefined;
  /** The state now, or the last one. */
  state: QueueState;
  /** As it is stored: without what its pages hold. */
  stored: QueueState;
  readonly live: Map<number, MessageLife>;
}

/** What one landing did to messages. */
export interface LandingDiff {
  readonly landing: Landing;
  readonly incarnation: IncarnationLife;
  readonly before: QueueState | undefined;
  readonly after: QueueState;
  readonly born: readonly MessageLife[];
  readonly ended: readonly MessageLife[];
}

export class Ledger {
  readonly incarnations = new Map<Incarnation, IncarnationLife>();
  /** The live incarnation of each queue name. */
  readonly queues = new Map<string, IncarnationLife>();
  /** By marker (the body up to its padding): the first send. */
  readonly sent = new Map<string, MessageLife>();
  readonly #peek: (key: string) => Uint8Array | undefined;
  readonly #segments = new Map<string, DecodedSegment>();
  /** Markers of messages that a move task has given up. */
  readonly #redriven = new Set<string>();

  constructor(peek: (key: string) => Uint8Array | undefined) {
    this.#peek = peek;
  }

  /** A string: what is wrong with the landing itself. */
  record(landing: Landing): LandingDiff | string | undefined {
    const { before, after, storedAfter, queue, at } = landing;
    const known = before?.kind === 'queue' ? this.incarnations.get(before.state.incarnation) : undefined;
    if (before?.kind === 'queue' && !known) return `an unknown incarnation was there`;
    if (after?.kind !== 'queue' || after.state.incarnation !== known?.id) {
      if (known) {
        known.endedAt = at;
        this.queues.delete(queue);
      }
    }
    if (after?.kind !== 'queue') return undefined;
    const { state } = after;
    const stored = storedAfter ?? state;
    let incarnation = known?.id === state.incarnation ? known : undefined;
    if (!incarnation) {
      if (this.incarnations.has(state.incarnation)) return `incarnation ${state.incarnation} came back`;
      incarnation = {
        id: state.incarnation,
        queue,
        bornAt: at,
        endedAt: undefined,
        state,
        stored,
        live: new Map(),
      };
      this.incarnations.set(state.incarnation, incarnation);
      this.queues.set(queue, incarnation);
    }
    const beforeState = known === incarnation && before?.kind === 'queue' ? before.state : undefined;
    incarnation.state = state;
    incarnation.stored = stored;
    const now = liveSequences(state);
    const ended: MessageLife[] = [];
    const born: MessageLife[] = [];
    for (const life of incarnation.live.values()) if (!now.has(life.sequence)) ended.push(life);
    for (const { sequence } of ended) incarnation.live.delete(sequence);
    for (const sequence of now) {
      if (incarnation.live.has(sequence)) continue;
      if (sequence < (beforeState?.nextSequence ?? 1)) return `sequence ${sequence} of ${queue} came back`;
      const message = this.bodyOf(incarnation, sequence);
      if (!message) return `message ${sequence} of ${queue} has no readable body`;
      const life = this.#birth(incarnation, sequence, message, landing);
      incarnation.live.set(sequence, life);
      born.push(life);
    }
    for (const [sequence, { redriven }] of state.intents)
      if (redriven) this.#redriven.add(markerOf(incarnation.live.get(sequence)!.message.body));
    return { landing, incarnation, before: beforeState, after: state, born, ended };
  }

  #birth(
    incarnation: IncarnationLife,
    sequence: number,
    message: StoredMessage,
    { at }: Landing,
  ): MessageLife {
    const moved = message.deadLetterSourceArn !== undefined || this.#isRedriven(message);
    return { incarnation: incarnation.id, sequence, message, bornAt: at, moved };
  }

  /** A task moves a message under another id. */
  #isRedriven({ body, messageId }: StoredMessage): boolean {
    const marker = markerOf(body);
    return this.#redriven.has(marker) && this.sent.get(marker)?.message.messageId !== messageId;
  }

  /** With the stamp as the manifest now gives it. */
  bodyOf({ state, queue: name }: IncarnationLife, sequence: number): StoredMessage | undefined {
    const inline = state.tail.get(sequence);
    if (inline) return inline.message;
    const place = locate(runIndexOf(state.segments), sequence);
    const reference = place && state.segments.get(place.segment);
    if (!place || !reference) return undefined;
    const { baseVersion, nonce } = reference;
    const { incarnation } = state;
    const key = objectKey({ name, incarnation, kind: 'seg', baseVersion, nonce });
    const message = this.#segment(key, incarnation)?.message(place.ordinal);
    return message && withStampShifted(message, place.run.sentAtShiftMillis);
  }

  #segment(key: string, incarnation: Incarnation): DecodedSegment | undefined {
    const known = this.#segments.get(key);
    if (known) return known;
    const bytes = this.#peek(key);
    const decoded = bytes && decodeSegment(bytes, incarnation);
    if (decoded?.kind !== 'ok') return undefined;
    this.#segments.set(key, decoded.segment);
    return decoded.segment;
  }
}

export function liveSequences(state: QueueState): Set<number> {
  const live = new Set<number>(iterate(state.ready));
  for (const sequence of state.delayed.keys()) live.add(sequence);
  for (const sequence of state.deliveries.keys()) live.add(sequence);
  for (const sequence of state.intents.keys()) live.add(sequence);
  return live;
}

/** Bodies are `<call>.<entry>|` and padding: each entry of each call is another message. */
export function markerOf(body: string): string {
  return body.slice(0, body.indexOf('|'));
}
