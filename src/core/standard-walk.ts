/**
 * The visible messages of a standard queue with their bodies, in the order that receives take them (draft.ts): the walk that
 * the receives of one transition share, and that a step of a move task takes after them.
 */
import type { Draft } from './draft.ts';
import { FairWalk } from './fair-walk.ts';
import type { StoredMessage } from './message.ts';
import type { PageReader } from './pages.ts';
import type { SegmentId } from './queue-state.ts';
import { ReadyWalk } from './ready-pages.ts';
import type { Resources } from './resources.ts';
import { segmentsPageAround, unfoldSegments } from './segments-pages.ts';
import { withStampShifted } from './stamps.ts';
import type { Visible } from './visible.ts';

export type Body =
  | { readonly kind: 'message'; readonly message: StoredMessage }
  /** `segment`: undefined when it is the page with its reference that has to be loaded. */
  | { readonly kind: 'needed'; readonly segment: SegmentId | undefined }
  | { readonly kind: 'unreadable' };

type Place = NonNullable<ReturnType<Draft['locate']>>;

export class StandardWalk {
  readonly #draft: Draft;
  readonly #resources: Resources;
  readonly #pages: PageReader;
  readonly #ready: ReadyWalk | FairWalk;
  readonly #visible: Generator<Visible, void, undefined>;
  readonly #takenFromReady: number[] = [];

  /** `end`: only messages below, and message groups have no turns: it is for a move task. */
  constructor(draft: Draft, resources: Resources, pages: PageReader, end?: number) {
    this.#draft = draft;
    this.#resources = resources;
    this.#pages = pages;
    this.#ready = end === undefined ? new FairWalk(draft, pages) : new ReadyWalk(draft, pages, end);
    this.#visible = draft.visible(this.#ready, end);
  }

  next(): Visible | undefined {
    const next = this.#visible.next();
    return next.done ? undefined : next.value;
  }

  /** Out of its place. */
  leave({ sequence, found }: Visible): void {
    if (found) {
      this.#draft.deliveries.end(found);
      return;
    }
    this.#draft.fairness.left(sequence);
    if (!this.#draft.delayed.delete(sequence)) this.#takenFromReady.push(sequence);
  }

  /** Call when nothing more is taken. */
  finish(): void {
    this.#draft.takeFromReady(this.#takenFromReady.splice(0));
    if (this.#ready instanceof FairWalk) this.#draft.fairness.handedOut(this.#ready.quietInARow);
  }

  body(sequence: number): Body {
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
