/**
 * Which message groups of a FIFO queue are locked, and from where on. A group is locked by what its messages do, not by a
 * state of its own (docs/design/0007-fifo.md): behind a message that is in flight or under an intent, nothing of its group
 * may be received; before it, everything.
 *
 * All lease pages have to be looked into: a group may be locked in any of them. One that can't be read may lock every
 * group behind its first message, and none before it.
 */
import type { Draft } from './draft.ts';
import type { GroupHash } from './ids.ts';
import { OpenLeasePage } from './open-lease-page.ts';

const unlocked = Number.POSITIVE_INFINITY;

export class GroupLocks {
  /** Pages are still to be loaded: nothing can be said. */
  readonly incomplete: boolean;
  /** From this sequence number on nobody knows; infinite where everything was read. */
  readonly unreadableFrom: number;
  readonly pages: readonly OpenLeasePage[];
  readonly #nowMillis: number;
  readonly #inManifest = new Map<GroupHash, number>();
  /** With what the pages say. */
  readonly #known = new Map<GroupHash, number>();

  /** Of the draft as it is now: what is leased or ended later has to be told. */
  constructor(draft: Draft) {
    this.#nowMillis = draft.time.nowMillis;
    for (const [sequence, { group, visibleAtMillis }] of draft.deliveries.inline.current)
      if (group !== undefined && visibleAtMillis > this.#nowMillis) lower(this.#inManifest, group, sequence);
    for (const [sequence, { group }] of draft.intents.current)
      if (group !== undefined) lower(this.#inManifest, group, sequence);
    const pages: OpenLeasePage[] = [];
    let unreadableFrom = unlocked;
    let incomplete = false;
    for (const page of draft.deliveries.allPages()) {
      if (page instanceof OpenLeasePage) pages.push(page);
      else if (page.state === 'needed') incomplete = true;
      else unreadableFrom = Math.min(unreadableFrom, page.firstSequence);
    }
    this.pages = pages;
    this.unreadableFrom = unreadableFrom;
    this.incomplete = incomplete;
  }

  /** Whether something of its group that comes before it is where it must be waited for. */
  isBehind(group: GroupHash, sequence: number): boolean {
    let lowest = this.#known.get(group);
    if (lowest === undefined) {
      lowest = this.#lowest(group);
      this.#known.set(group, lowest);
    }
    return lowest < sequence;
  }

  lock(group: GroupHash, sequence: number): void {
    lower(this.#inManifest, group, sequence);
    if (this.#known.has(group)) lower(this.#known, group, sequence);
  }

  #lowest(group: GroupHash): number {
    let lowest = this.#inManifest.get(group) ?? unlocked;
    for (const page of this.pages)
      lowest = Math.min(lowest, page.lowestInFlight(group, this.#nowMillis) ?? unlocked);
    return lowest;
  }
}

function lower(locks: Map<GroupHash, number>, group: GroupHash, sequence: number): void {
  const known = locks.get(group);
  if (known === undefined || sequence < known) locks.set(group, sequence);
}
