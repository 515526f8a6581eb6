/**
 * The deliveries of a state under change, wherever they are: in the manifest (`inline`) or in lease pages. Everything
 * that looks for, ends or changes a delivery goes through here, so that nothing takes "not in the manifest" for "not
 * there": what may be in a page that is not loaded, or can't be read, is `unknown`.
 *
 * A page is opened at most once in a transition. What leaves it sets a bit of its reference; what was changed goes
 * on in the manifest.
 */
import { Copied } from './copied.ts';
import { firstOrdinalFrom, hasLeft, ordinalOf } from './lease-page.ts';
import { type FoundDelivery, OpenLeasePage } from './open-lease-page.ts';
import type { PageReader } from './pages.ts';
import type { Delivery, LeasePageReference, PageId, QueueState } from './queue-state.ts';
import type { Visible, VisiblePage } from './visible.ts';

interface Hull {
  readonly id: PageId;
  readonly firstSequence: number;
  readonly lastSequence: number;
  /** Of this and all before: nothing further down reaches above it. */
  readonly highestLast: number;
}

/** A lease page that a transition can't look into. */
export interface UnopenedPage {
  readonly firstSequence: number;
  readonly state: 'needed' | 'unreadable';
}

export class Deliveries {
  readonly inline: Copied<number, Delivery>;
  /** Leased or changed by this transition: another attempt would do it anew, with other tokens and times. */
  readonly #unsettled = new Set<number>();
  readonly #base: Pick<QueueState, 'deliveries' | 'leasePages'>;
  readonly #references: Copied<PageId, LeasePageReference>;
  readonly #pages: PageReader;
  readonly #opened = new Map<PageId, OpenLeasePage | undefined>();
  /** Opened before a purge: they still tell what was there before the transition. */
  #purged: readonly (OpenLeasePage | undefined)[] = [];
  #hulls: readonly Hull[] | undefined;

  constructor(base: Pick<QueueState, 'deliveries' | 'leasePages'>, pages: PageReader) {
    this.#base = base;
    this.#pages = pages;
    this.inline = new Copied(base.deliveries);
    this.#references = new Copied(base.leasePages);
  }

  get hasPages(): boolean {
    return this.#references.current.size > 0;
  }

  isSettled(sequence: number): boolean {
    return !this.#unsettled.has(sequence);
  }

  /**
   * `leaseVersion`: of the delivery that is asked for, when known; a page has none of a later version than its base,
   * since what a transition leases it does not fold.
   */
  find(sequence: number, leaseVersion = 0): FoundDelivery | 'absent' | 'unknown' {
    const inline = this.inline.current.get(sequence);
    if (inline) return { sequence, delivery: inline, page: undefined, ordinal: 0 };
    let unknown = false;
    for (const id of this.#reaching(sequence, sequence + 1)) {
      if (leaseVersion > this.#references.current.get(id)!.baseVersion) continue;
      const page = this.#open(id);
      if (!page) {
        unknown = true;
        continue;
      }
      const ordinal = ordinalOf(page.content, sequence);
      if (ordinal !== undefined && page.has(ordinal))
        return { sequence, delivery: page.content.deliveries[ordinal]!, page, ordinal };
    }
    return unknown ? 'unknown' : 'absent';
  }

  /** As it was before this transition, if that is known: pages that were not opened are not asked for. */
  findBefore(sequence: number): Delivery | undefined {
    const inline = this.#base.deliveries.get(sequence);
    if (inline) return inline;
    for (const page of [...this.#purged, ...this.#opened.values()]) {
      const ordinal = page && ordinalOf(page.content, sequence);
      if (page && ordinal !== undefined && !hasLeft(this.#base.leasePages.get(page.id)!.left, ordinal))
        return page.content.deliveries[ordinal];
    }
    return undefined;
  }

  /** Of a message that has none. */
  add(sequence: number, delivery: Delivery): void {
    this.inline.set(sequence, delivery);
    this.#unsettled.add(sequence);
  }

  change({ sequence, page, ordinal }: FoundDelivery, delivery: Delivery): void {
    page?.take(ordinal);
    this.add(sequence, delivery);
  }

  end({ sequence, page, ordinal }: FoundDelivery): void {
    if (page) page.take(ordinal);
    else this.inline.delete(sequence);
  }

  clear(): void {
    this.inline.replace(new Map());
    this.#references.replace(new Map());
    this.#purged = [...this.#purged, ...this.#opened.values()];
    this.#opened.clear();
    this.#hulls = undefined;
  }

  /** Opens every page that may hold any of these sequence numbers; false while that is not possible. */
  canEndWithin(first: number, end: number): boolean {
    let all = true;
    for (const id of this.#reaching(first, end)) all = this.#open(id) !== undefined && all;
    return all;
  }

  /** Ends all of these sequence numbers. Only after `canEndWithin`. */
  endWithin(first: number, end: number): void {
    for (let sequence = first; sequence < end; sequence++) this.inline.delete(sequence);
    for (const id of this.#reaching(first, end)) {
      const page = this.#open(id);
      if (!page) throw new Error(`page ${id} is not open`);
      const { sequences } = page.content;
      for (
        let at = firstOrdinalFrom(page.content, first);
        at < sequences.length && sequences[at]! < end;
        at++
      )
        if (page.has(at)) page.take(at);
    }
  }

  /** How many are in flight; exact if it could reach `bound`, else perhaps too many, but below it. */
  inFlight(nowMillis: number, bound: number): number {
    let total = 0;
    for (const { visibleAtMillis } of this.inline.current.values()) if (visibleAtMillis > nowMillis) total++;
    const straddling: PageId[] = [];
    for (const [id, { remaining, firstVisibleAtMillis, lastVisibleAtMillis }] of this.references()) {
      if (remaining === 0 || lastVisibleAtMillis <= nowMillis) continue;
      total += remaining;
      if (firstVisibleAtMillis <= nowMillis) straddling.push(id);
    }
    for (const id of straddling) {
      if (total < bound) break;
      total -= this.visibleIn(id, nowMillis) ?? 0;
    }
    return total;
  }

  /** How many of a page are visible; undefined when it is not loaded. */
  visibleIn(id: PageId, nowMillis: number): number | undefined {
    const page = this.#open(id);
    if (!page) return undefined;
    let total = 0;
    for (const { delivery } of page.found()) if (delivery.visibleAtMillis <= nowMillis) total++;
    return total;
  }

  /** Those of the manifest that are visible, in no order. */
  *visibleInline(nowMillis: number): Generator<Visible, void, undefined> {
    for (const [sequence, delivery] of this.inline.current)
      if (delivery.visibleAtMillis <= nowMillis) {
        const found = { sequence, delivery, page: undefined, ordinal: 0 };
        yield { sequence, sinceMillis: delivery.visibleAtMillis, found };
      }
  }

  /** `end`: those that may have messages below. */
  *visiblePages(nowMillis: number, end: number): Generator<VisiblePage, void, undefined> {
    for (const [id, { remaining, firstVisibleAtMillis, firstSequence }] of this.references()) {
      if (remaining === 0 || firstVisibleAtMillis > nowMillis || firstSequence >= end) continue;
      const open = () => {
        const page = this.#open(id);
        if (!page && this.#pages.needed.has(id)) return 'needed';
        return page?.visible(nowMillis) ?? [].values();
      };
      yield { sinceMillis: firstVisibleAtMillis, open };
    }
  }

  /** Every page that still has something, opened; `needed` or `unreadable` where that is not possible. */
  *allPages(): Generator<OpenLeasePage | UnopenedPage, void, undefined> {
    for (const [id, { remaining, firstSequence }] of this.references()) {
      if (remaining === 0) continue;
      const page = this.#open(id);
      yield page ?? { firstSequence, state: this.#pages.needed.has(id) ? 'needed' : 'unreadable' };
    }
  }

  /** References as they are now. */
  *references(): Generator<readonly [PageId, LeasePageReference], void, undefined> {
    for (const [id, reference] of this.#references.current)
      yield [id, this.#opened.get(id)?.reference ?? reference];
  }

  addPage(id: PageId, reference: LeasePageReference): void {
    this.#references.set(id, reference);
    this.#hulls = undefined;
  }

  /** Pages that something left. */
  touched(): OpenLeasePage[] {
    return [...this.#opened.values()].filter((page): page is OpenLeasePage => page?.touched ?? false);
  }

  /** Back into the manifest with all that is left of it, if anything. */
  bringBack(page: OpenLeasePage): void {
    for (const { sequence, delivery } of page.found()) this.inline.set(sequence, delivery);
    this.#references.delete(page.id);
    this.#opened.delete(page.id);
    this.#hulls = undefined;
  }

  seal(): Pick<QueueState, 'deliveries' | 'leasePages'> {
    for (const page of this.touched()) this.#references.set(page.id, page.reference);
    return { deliveries: this.inline.current, leasePages: this.#references.current };
  }

  #open(id: PageId): OpenLeasePage | undefined {
    if (this.#opened.has(id)) return this.#opened.get(id);
    const reference = this.#references.current.get(id)!;
    const content = this.#pages.read('lease', id, reference);
    const page = content && new OpenLeasePage(id, reference, content);
    this.#opened.set(id, page);
    return page;
  }

  /** Pages that may hold any of [first, end). */
  *#reaching(first: number, end: number): Generator<PageId, void, undefined> {
    if (!this.hasPages) return;
    this.#hulls ??= hullsOf(this.#references.current);
    const hulls = this.#hulls;
    let low = 0;
    let high = hulls.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (hulls[middle]!.firstSequence < end) low = middle + 1;
      else high = middle;
    }
    for (let at = low - 1; at >= 0 && hulls[at]!.highestLast >= first; at--)
      if (hulls[at]!.lastSequence >= first) yield hulls[at]!.id;
  }
}

function hullsOf(references: ReadonlyMap<PageId, LeasePageReference>): readonly Hull[] {
  const sorted = [...references].sort(([, a], [, b]) => a.firstSequence - b.firstSequence);
  let highestLast = 0;
  return sorted.map(([id, { firstSequence, lastSequence }]) => {
    highestLast = Math.max(highestLast, lastSequence);
    return { id, firstSequence, lastSequence, highestLast };
  });
}
