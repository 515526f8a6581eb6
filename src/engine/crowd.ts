/**
 * Who else writes this queue now, and how slow the slowest of them is: the writers of the manifest, as this process
 * saw them change. No clock of another machine is asked, so none has to be right.
 *
 * A writer counts for 3 s after its entry was seen to change; one that another node left behind (a crash, a restart)
 * never changes and so never counts. A writer that never lands a commit has no entry at all: it asks for its turn
 * (turn.ts), and counts in the same way.
 */
import type { WriterId } from '../core/ids.ts';
import type { WriterEntry } from '../core/queue-state.ts';

/** Longer than any linger of a crowd, or its members would lose sight of each other. */
const activeMillis = 3_000;

/** What a writer publishes is believed up to this: nobody may slow down all others without bound. */
const roundMaxMillis = 1_000;

interface Seen {
  readonly version: number;
  readonly roundMillis: number;
  /** Monotonic; when it was last seen to change. */
  readonly changedAt: number;
}

export class Crowd {
  readonly #own: WriterId;
  #seen: ReadonlyMap<WriterId, Seen> | undefined;
  #asked: ReadonlyMap<WriterId, Seen> = new Map();

  constructor(own: WriterId) {
    this.#own = own;
  }

  observe(writers: readonly WriterEntry[], monotonicMillis: number): void {
    const before = this.#seen;
    const seen = new Map<WriterId, Seen>();
    for (const { id, version, roundMillis } of writers) {
      if (id === this.#own) continue;
      const known = before?.get(id);
      const changedAt = before ? monotonicMillis : Number.NEGATIVE_INFINITY;
      seen.set(id, known?.version === version ? known : { version, roundMillis, changedAt });
    }
    this.#seen = seen;
  }

  /** Somebody without an entry wants to write. */
  asked({ id, version, roundMillis }: WriterEntry, monotonicMillis: number): void {
    if (id === this.#own) return;
    const still = [...this.#asked].filter(([, { changedAt }]) => monotonicMillis - changedAt <= activeMillis);
    this.#asked = new Map([...still, [id, { version, roundMillis, changedAt: monotonicMillis }]]);
  }

  /** Active writers besides this one, and the longest round of theirs. */
  others(monotonicMillis: number): { readonly count: number; readonly roundMillis: number } {
    let slowestMillis = 0;
    const active = new Set<WriterId>();
    for (const [id, writer] of [...this.#asked, ...(this.#seen ?? [])]) {
      if (monotonicMillis - writer.changedAt > activeMillis) continue;
      active.add(id);
      slowestMillis = Math.max(slowestMillis, writer.roundMillis);
    }
    return { count: active.size, roundMillis: Math.min(slowestMillis, roundMaxMillis) };
  }
}
