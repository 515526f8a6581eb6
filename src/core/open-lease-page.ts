/** A lease page under change: what leaves it in one transition, and the reference that comes of it. */
import type { GroupHash } from './ids.ts';
import {
  bitmapBytes,
  byVisibility,
  hasLeft,
  type LeasePage,
  ordinalsOfGroup,
  visibilityOf,
} from './lease-page.ts';
import type { Delivery, LeasePageReference, PageId } from './queue-state.ts';
import type { Visible } from './visible.ts';

/** A delivery and where it was found; good until the next change of deliveries. */
export interface FoundDelivery {
  readonly sequence: number;
  readonly delivery: Delivery;
  /** Undefined: in the manifest. */
  readonly page: OpenLeasePage | undefined;
  readonly ordinal: number;
}

export class OpenLeasePage {
  readonly id: PageId;
  readonly content: LeasePage;
  readonly #reference: LeasePageReference;
  #left: Uint8Array;
  #remaining: number;
  #bounds: Pick<LeasePageReference, 'firstVisibleAtMillis' | 'lastVisibleAtMillis'>;
  #boundLeft = false;

  constructor(id: PageId, reference: LeasePageReference, content: LeasePage) {
    this.id = id;
    this.content = content;
    this.#reference = reference;
    this.#left = reference.left;
    this.#remaining = reference.remaining;
    this.#bounds = reference;
  }

  get touched(): boolean {
    return this.#remaining !== this.#reference.remaining;
  }

  has(ordinal: number): boolean {
    return !hasLeft(this.#left, ordinal);
  }

  take(ordinal: number): void {
    if (!this.touched) {
      const copy = new Uint8Array(bitmapBytes(this.#reference.count));
      copy.set(this.#left);
      this.#left = copy;
    }
    this.#left[ordinal >>> 3]! |= 1 << (ordinal & 7);
    this.#remaining--;
    const { visibleAtMillis } = this.content.deliveries[ordinal]!;
    const { firstVisibleAtMillis, lastVisibleAtMillis } = this.#bounds;
    if (visibleAtMillis === firstVisibleAtMillis || visibleAtMillis === lastVisibleAtMillis)
      this.#boundLeft = true;
  }

  get reference(): LeasePageReference {
    if (!this.touched) return this.#reference;
    if (this.#boundLeft && this.#remaining > 0) this.#bounds = visibilityOf(this.content, this.#left);
    this.#boundLeft = false;
    const { firstVisibleAtMillis, lastVisibleAtMillis } = this.#bounds;
    return {
      ...this.#reference,
      left: this.#left,
      remaining: this.#remaining,
      firstVisibleAtMillis,
      lastVisibleAtMillis,
    };
  }

  /** All that have not left. */
  *found(): Generator<FoundDelivery, void, undefined> {
    const { sequences, deliveries } = this.content;
    for (let ordinal = 0; ordinal < sequences.length; ordinal++)
      if (this.has(ordinal))
        yield { sequence: sequences[ordinal]!, delivery: deliveries[ordinal]!, page: this, ordinal };
  }

  /** The lowest sequence number of a message group that is in flight. */
  lowestInFlight(group: GroupHash, nowMillis: number): number | undefined {
    const { sequences, deliveries } = this.content;
    for (const ordinal of ordinalsOfGroup(this.content, group))
      if (this.has(ordinal) && deliveries[ordinal]!.visibleAtMillis > nowMillis) return sequences[ordinal];
    return undefined;
  }

  /** Those that are visible now, in ascending order of sequence. */
  *visibleAscending(nowMillis: number): Generator<FoundDelivery, void, undefined> {
    if (this.#bounds.firstVisibleAtMillis > nowMillis) return;
    const { sequences, deliveries } = this.content;
    for (let ordinal = 0; ordinal < sequences.length; ordinal++) {
      const delivery = deliveries[ordinal]!;
      if (delivery.visibleAtMillis <= nowMillis && this.has(ordinal))
        yield { sequence: sequences[ordinal]!, delivery, page: this, ordinal };
    }
  }

  /** Those that are visible now, the longest visible first. */
  *visible(nowMillis: number): Generator<Visible, void, undefined> {
    const { sequences, deliveries } = this.content;
    for (const ordinal of byVisibility(this.content)) {
      const delivery = deliveries[ordinal]!;
      if (delivery.visibleAtMillis > nowMillis) return;
      const sequence = sequences[ordinal]!;
      if (this.has(ordinal))
        yield {
          sequence,
          sinceMillis: delivery.visibleAtMillis,
          found: { sequence, delivery, page: this, ordinal },
        };
    }
  }
}
