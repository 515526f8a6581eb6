/**
 * The order in which messages that are visible again are delivered: the longest visible first, wherever they are. A
 * page is opened only when the walk gets to where its messages may be.
 */
import type { FoundDelivery } from './open-lease-page.ts';

/** A message that is visible now. */
export interface Visible {
  readonly sequence: number;
  readonly sinceMillis: number;
  /** Undefined: it was never received. */
  readonly found: FoundDelivery | undefined;
}

/** A page with messages that are visible, the first of them since `sinceMillis`. */
export interface VisiblePage {
  readonly sinceMillis: number;
  /** In order. `needed`: not loaded yet. What can't be read gives nothing. */
  open(): Iterator<Visible> | 'needed';
}

/** Pages that a walk asks for at once, when the one it needs is not loaded: it may need the next ones too. */
const askedAhead = 3;

/** Ends early when a page is needed: the transition will be applied again, and what comes next depends on the page. */
export function* inOrder(
  unpaged: readonly Visible[],
  pages: readonly VisiblePage[],
): Generator<Visible, void, undefined> {
  const walks = [new Walk([...unpaged].sort(bySince).values())];
  const closed = [...pages].sort((a, b) => a.sinceMillis - b.sinceMillis);
  let at = 0;
  for (;;) {
    let first: Walk | undefined;
    for (const walk of walks)
      if (walk.head && (!first?.head || bySince(walk.head, first.head) < 0)) first = walk;
    const page = closed[at];
    if (page && (!first?.head || page.sinceMillis <= first.head.sinceMillis)) {
      at++;
      const opened = page.open();
      if (opened !== 'needed') walks.push(new Walk(opened));
      else {
        for (const next of closed.slice(at, at + askedAhead)) next.open();
        return;
      }
    } else if (first?.head) yield first.shift();
    else return;
  }
}

/**
 * Whether a walk begins with what was never received instead of with what is visible again. By the parity of the ones in the
 * version (the Thue-Morse sequence): no rhythm of commits, as of a consumer that gives back each message it takes, meets the
 * same answer for ever.
 */
export function isTurnOfOldest(version: number): boolean {
  let odd = false;
  for (let rest = version; rest > 0; rest = Math.floor(rest / 2)) if (rest % 2 === 1) odd = !odd;
  return odd;
}

export function bySince(a: Visible, b: Visible): number {
  return a.sinceMillis - b.sinceMillis || a.sequence - b.sequence;
}

class Walk {
  readonly #rest: Iterator<Visible>;
  head: Visible | undefined;

  constructor(rest: Iterator<Visible>) {
    this.#rest = rest;
    this.shift();
  }

  /** The head; the next one takes its place. */
  shift(): Visible {
    const head = this.head!;
    const next = this.#rest.next();
    this.head = next.done ? undefined : next.value;
    return head;
  }
}
