/**
 * Watches the manifests of many waited queues by LISTs of `m/`, where that is cheaper than a GET of each
 * (list-pace.ts). One per process. It sets no timers: a queue whose look is due asks here what to do about it.
 *
 * - A LIST tells a queue its tag; equal to the tag it holds, nothing had happened when the LIST began. That counts for
 *   when to look next and for nothing else: no command is ever answered on the word of a LIST, so one that lied could
 *   only keep a waiting receive waiting.
 * - Another tag, or none, is no news to act on either: the queue is read.
 * - Names are partitioned into stretches, at first one, split where a page ended with waited names still to come: so
 *   each stretch is known to be about a page, and pages without waited names are not asked for. A stretch whose
 *   queues are too few for a LIST is read by GETs, and so are, once, those that a page did not reach: learning where
 *   pages end goes on a page a look, and delays nobody.
 * - A queue waits for a LIST under way about as long as its own interval, counted from the beginning of the LIST, and
 *   then reads by itself: one that hangs delays a look by at most another one. One that fails hands all back to GETs.
 */
import { keyBeforeManifest, manifestKey, manifestsPrefix } from '../format/object-keys.ts';
import { type ETag, type ListPage, StoreError } from '../store/object-store.ts';
import type { Counters } from './counters.ts';
import type { Environment } from './environment.ts';
import { listPace, type WaitedPace, worthListing } from './list-pace.ts';
import { drawJitter } from './poll-schedule.ts';
import type { EngineSettings } from './settings.ts';

export interface Sighting {
  /** Undefined: the LIST does not show the queue. */
  readonly tag: ETag | undefined;
  /** Monotonic; when the LIST began. */
  readonly began: number;
  /** Of the next look: the same for all that one LIST shows, or the earliest of many would always decide. */
  readonly jitter: number;
}

export interface WatchedQueue extends WaitedPace {
  readonly name: string;
  readonly waited: boolean;
  /** Monotonic; of the next look. */
  lookAt(): number;
  sighted(sighting: Sighting): void;
  /** The LIST it waited for tells nothing: its look is as due as before. */
  unsighted(): void;
}

interface Stretch {
  /** Its last key; undefined: to the end of all. It begins after the stretch before. */
  through: string | undefined;
  queues: Set<WatchedQueue>;
  /** Monotonic, of the last LIST, and the interval of the fastest queues it was for. */
  lastBegan: number;
  paceMillis: number;
  underWay: boolean;
}

/** Where pages end shifts as queues come and go: learned anew now and then, for a LIST a page with waited names. */
const relearnMillis = 60 * 60 * 1000;
/** After failures; the store may deny LIST alone, and GETs do as well. */
const restMillisMax = 60_000;

export class ManifestWatch {
  readonly #environment: Environment;
  readonly #settings: EngineSettings;
  readonly #counters: Counters;
  #stretches: Stretch[] = [wholeStretch()];
  #learnedAt: number;
  #restMillis: number;
  /** A page ended before them: they read at once, and do not wait for the next page. */
  readonly #passedOver = new WeakSet<WatchedQueue>();
  #notBefore = Number.NEGATIVE_INFINITY;

  constructor(environment: Environment, settings: EngineSettings, counters: Counters) {
    this.#environment = environment;
    this.#settings = settings;
    this.#counters = counters;
    this.#learnedAt = environment.clock.monotonicMillis();
    this.#restMillis = settings.timing.pollMaxMillis;
  }

  /** The queue's look is due. Undefined: it reads its manifest; else a LIST is under way, to wait for until then. */
  due(queue: WatchedQueue): number | undefined {
    if (!this.#settings.listTags) return undefined;
    const now = this.#environment.clock.monotonicMillis();
    this.#relearn(now);
    const stretch = this.#stretchOf(queue.name);
    stretch.queues.add(queue);
    if (this.#passedOver.delete(queue)) return undefined;
    if (!stretch.underWay && now >= this.#notBefore && this.#pays(stretch, queue, now))
      void this.#list(stretch, now);
    if (!stretch.underWay || queue.intervalMillis < stretch.paceMillis) return undefined;
    const until = stretch.lastBegan + this.#patienceMillis(queue);
    return until > now ? until : undefined;
  }

  /** Nobody will wait on it any more. */
  leave(queue: WatchedQueue): void {
    this.#stretchOf(queue.name).queues.delete(queue);
  }

  #pays(stretch: Stretch, queue: WatchedQueue, now: number): boolean {
    const price = this.#settings.listPriceInReads;
    const waited = waitedOf(stretch);
    const pace = listPace(waited, price);
    if (pace === undefined || queue.intervalMillis < pace) return false;
    const dueNow = waited.filter((each) => each.lookAt() <= now);
    if (!worthListing(dueNow, now - stretch.lastBegan, pace, price)) return false;
    stretch.paceMillis = pace;
    return true;
  }

  /** A page takes longer than one manifest: hundreds that look every 50 ms must not give it up and read. */
  #patienceMillis({ intervalMillis }: WatchedQueue): number {
    return Math.max(intervalMillis, this.#settings.timing.pollMaxMillis / 4);
  }

  async #list(stretch: Stretch, began: number): Promise<void> {
    stretch.underWay = true;
    stretch.lastBegan = began;
    this.#counters.watchLists++;
    const [first] = waitedOf(stretch)
      .map(({ name }) => name)
      .sort();
    const startAfter = keyBeforeManifest(first!);
    let page: ListPage | undefined;
    try {
      page = await this.#page(startAfter);
      this.#restMillis = this.#settings.timing.pollMaxMillis;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      this.#notBefore = this.#environment.clock.monotonicMillis() + this.#restMillis;
      this.#restMillis = Math.min(restMillisMax, this.#restMillis * 2);
    } finally {
      stretch.underWay = false;
    }
    const queues = [...stretch.queues];
    const last = page?.truncated ? page.objects.at(-1)!.key : undefined;
    if (last !== undefined) this.#split(stretch, last);
    const tags = new Map(page?.objects.map(({ key, etag }) => [key, etag]));
    const jitter = drawJitter(this.#environment.random);
    for (const queue of queues) {
      const key = manifestKey(queue.name);
      const covered = page && key > startAfter && (last === undefined || key <= last);
      if (covered) queue.sighted({ tag: tags.get(key), began, jitter });
      else {
        this.#passedOver.add(queue);
        queue.unsighted();
      }
    }
  }

  async #page(startAfter: string): Promise<ListPage> {
    const { listPageKeys } = this.#settings;
    const page = await this.#environment.store.list({
      prefix: manifestsPrefix,
      startAfter,
      limit: listPageKeys,
    });
    // Believed, it would be asked for again at once, for ever.
    if (page.truncated && !((page.objects.at(-1)?.key ?? '') > startAfter))
      throw new StoreError('the store lists an empty page and says that more follows', { retryable: false });
    return page;
  }

  /** What the page did not reach is a stretch of its own, if anybody waits there. */
  #split(stretch: Stretch, last: string): void {
    const beyond = [...stretch.queues].filter(({ name }) => manifestKey(name) > last);
    if (beyond.length === 0) return;
    for (const queue of beyond) stretch.queues.delete(queue);
    const rest = { ...wholeStretch(), through: stretch.through, queues: new Set(beyond) };
    this.#stretches.splice(this.#stretches.indexOf(stretch) + 1, 0, rest);
    stretch.through = last;
  }

  #stretchOf(name: string): Stretch {
    const key = manifestKey(name);
    return this.#stretches.find(({ through }) => through === undefined || key <= through)!;
  }

  #relearn(now: number): void {
    if (now - this.#learnedAt < relearnMillis || this.#stretches.some(({ underWay }) => underWay)) return;
    this.#learnedAt = now;
    if (this.#stretches.length === 1) return;
    const queues = new Set(this.#stretches.flatMap((stretch) => [...stretch.queues]));
    this.#stretches = [{ ...wholeStretch(), queues }];
  }
}

function wholeStretch(): Stretch {
  const never = Number.NEGATIVE_INFINITY;
  return { through: undefined, queues: new Set(), lastBegan: never, paceMillis: 0, underWay: false };
}

function waitedOf(stretch: Stretch): WatchedQueue[] {
  return [...stretch.queues].filter(({ waited }) => waited);
}
