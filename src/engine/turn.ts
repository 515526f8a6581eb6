/**
 * A turn for a writer that never lands a commit. Beside a near writer that commits without pause, a far one loses every
 * swap: by the time its own arrives, the near one has made three others. Nobody sees that it tries, since a lost swap
 * leaves no trace. So it writes a small object of its own, `turn`, beside the queue's segments:
 *
 *   1. Losing one swap after another, it puts the object there, again each second; its attempt number makes it differ.
 *   2. Whoever commits often looks there, once a second at most: one GET to many commits. An object that was seen to
 *      change counts as an active writer (crowd.ts), so the near writer's windows grow to the far one's pace.
 *   3. The far one lands, is in the manifest from now on, and takes its object away.
 *
 * Nothing safe rests on it: lost, late, stale or made up, it changes how long windows are, for 3 s.
 */
import type { WriterEntry } from '../core/queue-state.ts';
import { turnKey } from '../format/object-keys.ts';
import { decodeTurn, encodeTurn } from '../format/turn-codec.ts';
import { type ETag, type ObjectStore, StoreError } from '../store/object-store.ts';
import type { Clock } from './environment.ts';

const askEveryMillis = 1_000;
const lookEveryMillis = 1_000;
/** On average since the last look; less often leaves room enough for anybody. */
const oftenEveryMillis = 350;

export class Turn {
  readonly #store: ObjectStore;
  readonly #clock: Clock;
  readonly #key: string;
  #askedAt = Number.NEGATIVE_INFINITY;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #commits = 0;
  #seen: ETag | 'nothing' | undefined;

  constructor(store: ObjectStore, clock: Clock, queue: Parameters<typeof turnKey>[0]) {
    this.#store = store;
    this.#clock = clock;
    this.#key = turnKey(queue);
  }

  /** This writer loses one swap after another. */
  async ask(entry: WriterEntry): Promise<void> {
    const now = this.#clock.monotonicMillis();
    if (now - this.#askedAt < askEveryMillis) return;
    this.#askedAt = now;
    await ignoringStoreErrors(this.#store.put(this.#key, encodeTurn(entry)));
  }

  /** This writer landed a commit. Returns who else asks for a turn, if it is time to look and somebody newly does. */
  async landed(): Promise<WriterEntry | undefined> {
    this.#commits++;
    const now = this.#clock.monotonicMillis();
    if (this.#askedAt !== Number.NEGATIVE_INFINITY) {
      this.#askedAt = Number.NEGATIVE_INFINITY;
      await ignoringStoreErrors(this.#store.delete(this.#key));
    }
    const sinceLook = now - this.#lookedAt;
    if (sinceLook < lookEveryMillis) return undefined;
    const often = this.#commits * oftenEveryMillis >= sinceLook;
    this.#lookedAt = now;
    this.#commits = 0;
    return often ? this.#look() : undefined;
  }

  async #look(): Promise<WriterEntry | undefined> {
    const known = this.#seen;
    const options = known === undefined || known === 'nothing' ? {} : { ifNoneMatch: known };
    const found = await ignoringStoreErrors(this.#store.get(this.#key, options));
    if (found?.kind === 'missing') this.#seen = 'nothing';
    if (found?.kind !== 'done') return undefined;
    this.#seen = found.etag;
    // The first one found may have lain there for days.
    return known === undefined ? undefined : decodeTurn(found.body);
  }
}

async function ignoringStoreErrors<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof StoreError) return undefined;
    throw error;
  }
}
