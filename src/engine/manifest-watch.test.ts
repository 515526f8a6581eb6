/** Which LISTs a watch makes of which queues, alone: on a store and queues of this test. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { engineSettings } from '../../test/support/engine-settings.ts';
import { SeededRandom } from '../../test/support/seeded-random.ts';
import { VirtualClock } from '../../test/support/virtual-clock.ts';
import { keyBeforeManifest, manifestKey } from '../format/object-keys.ts';
import { MemoryStore } from '../store/memory-store.ts';
import { type ETag, type ListPage, type ListRequest, StoreError } from '../store/object-store.ts';
import { newCounters } from './counters.ts';
import { ManifestWatch, type Sighting, type WatchedQueue } from './manifest-watch.ts';
import type { EngineSettings } from './settings.ts';

class Bucket extends MemoryStore {
  readonly pages: { readonly request: ListRequest; readonly page: ListPage }[] = [];
  fails = false;

  override async list(request: ListRequest): Promise<ListPage> {
    if (this.fails) throw new StoreError('denied', { retryable: false });
    const page = await super.list(request);
    this.pages.push({ request, page });
    return page;
  }
}

class Queue implements WatchedQueue {
  readonly name: string;
  waited = true;
  intervalMillis = 2_000;
  changedShare = 0;
  sightings: Sighting[] = [];
  unsightedTimes = 0;

  constructor(name: string) {
    this.name = name;
  }

  lookAt(): number {
    return this.sightings.length === 0 ? 0 : Number.POSITIVE_INFINITY;
  }

  sighted(sighting: Sighting): void {
    this.sightings.push(sighting);
  }

  unsighted(): void {
    this.unsightedTimes++;
  }
}

interface Stage {
  readonly bucket: Bucket;
  readonly clock: VirtualClock;
  readonly watch: ManifestWatch;
}

async function stage(present: readonly string[], tuning: Partial<EngineSettings> = {}): Promise<Stage> {
  const clock = new VirtualClock();
  const bucket = new Bucket({ nowMillis: () => clock.wallMillis() });
  for (const name of present) await bucket.put(manifestKey(name), new Uint8Array(1));
  const silent = () => {};
  const log = { debug: silent, info: silent, warn: silent, error: silent };
  const environment = { clock, random: new SeededRandom(1), store: bucket, log };
  return { bucket, clock, watch: new ManifestWatch(environment, engineSettings(tuning), newCounters()) };
}

/** As their loops do: each asks when its look is due, until it has been shown or told to read. The names of those. */
async function lookOnce({ watch, clock }: Stage, queues: readonly Queue[]): Promise<string[]> {
  const read: string[] = [];
  for (const queue of queues) queue.sightings = [];
  for (let round = 0; round <= queues.length; round++) {
    for (const queue of queues)
      if (queue.waited && queue.sightings.length === 0 && !read.includes(queue.name))
        if (watch.due(queue) === undefined) read.push(queue.name);
    await clock.advance(1);
  }
  return read;
}

const numbered = (count: number) => Array.from({ length: count }, (_, n) => `q${String(n).padStart(4, '0')}`);

describe('a watch', () => {
  it('shows every waited queue its tag by the fewest pages that hold them', async () => {
    const names = fc.uniqueArray(
      fc.string({ unit: fc.constantFrom(...'-0Aaz'), minLength: 1, maxLength: 3 }),
      {
        minLength: 1,
        maxLength: 40,
      },
    );
    const waits = fc.array(fc.constantFrom('waited', 'idle', 'gone'), { minLength: 40, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(names, waits, fc.integer({ min: 1, max: 8 }), async (all, kinds, listPageKeys) => {
        const kindOf = (name: string) => kinds[all.indexOf(name)];
        const play = await stage(
          all.filter((name) => kindOf(name) !== 'gone'),
          { listPageKeys },
        );
        const queues = all.filter((name) => kindOf(name) !== 'idle').map((name) => new Queue(name));
        // Whoever a page does not reach reads for once; each look learns where one page more ends.
        let read = ['nothing yet'];
        for (let time = 0; read.length > 0; time++) {
          assert.ok(time <= all.length, `${read} read after ${time} looks`);
          play.bucket.pages.length = 0;
          await play.clock.advance(2_500);
          read = await lookOnce(play, queues);
          for (const { name, sightings } of queues) {
            if (read.includes(name)) continue;
            const got = await play.bucket.get(manifestKey(name));
            // A LIST that was under way may have shown it before it asked, but not another tag.
            const shown = new Set(sightings.map(({ tag }) => tag));
            assert.deepEqual([...shown], [got.kind === 'done' ? got.etag : undefined], name);
          }
          const keys = queues.map(({ name }) => manifestKey(name)).sort();
          assert.ok(play.bucket.pages.length <= keys.length);
          for (const { request, page } of play.bucket.pages) {
            const next = keys.find((key) => key > request.startAfter!)!;
            const present = (await play.bucket.get(next)).kind === 'done';
            if (present) assert.equal(page.objects[0]?.key, next, 'a page begins with a waited queue');
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it('reads what lies too far apart for a page, having looked once', async () => {
    const names = numbered(1_000);
    const play = await stage(names, { listPriceInReads: 12.5, listPageKeys: 100 });
    const dense = names.slice(500, 520).map((name) => new Queue(name));
    const sparse = [0, 90, 180, 270, 360, 450, 700, 800, 900].map((n) => new Queue(names[n]!));
    const look = async () => {
      await play.clock.advance(2_500);
      play.bucket.pages.length = 0;
      return lookOnce(play, [...sparse, ...dense]);
    };
    for (let learning = 0; learning < 10; learning++) await look();
    const settled = async () => {
      assert.deepEqual(
        await look(),
        sparse.map(({ name }) => name),
      );
      assert.equal(play.bucket.pages.length, 1);
      assert.ok(dense.every(({ sightings }) => sightings.length === 1));
    };
    await settled();
    // Queues came and went meanwhile: an hour later it looks again where they lie, a page at each look.
    await play.clock.advance(60 * 60_000);
    await look();
    const [first] = play.bucket.pages;
    assert.equal(first?.request.startAfter, keyBeforeManifest(names[0]!));
    for (let learning = 0; learning < 10; learning++) {
      await look();
      assert.ok(play.bucket.pages.length <= 2);
    }
    await settled();
  });

  it('makes no LIST where its tags are not honest, nor for too few', async () => {
    for (const tuning of [{ listTags: false }, { listPriceInReads: 12.5 }]) {
      const play = await stage(numbered(12), tuning);
      const queues = numbered(12).map((name) => new Queue(name));
      assert.equal((await lookOnce(play, queues)).length, 12);
      assert.equal(play.bucket.pages.length, 0);
    }
  });

  it('lists for those alone that are waited on, and forgets who left', async () => {
    const play = await stage(numbered(13), { listPriceInReads: 12.5 });
    const queues = numbered(13).map((name) => new Queue(name));
    await lookOnce(play, queues);
    assert.equal(play.bucket.pages.length, 1, 'when the thirteenth had come');
    await play.clock.advance(2_500);
    assert.deepEqual(await lookOnce(play, queues), []);
    assert.equal(play.bucket.pages.length, 2);
    await play.clock.advance(2_500);
    queues[4]!.waited = false;
    assert.equal((await lookOnce(play, queues)).length, 12);
    queues[4]!.waited = true;
    play.watch.leave(queues[7]!);
    const others = queues.filter((_, n) => n !== 7);
    assert.equal((await lookOnce(play, others)).length, 12);
    assert.equal(play.bucket.pages.length, 2);
  });

  it('hands all back to reads while LISTs fail, and tries again later and later', async () => {
    const play = await stage(numbered(20));
    const queues = numbered(20).map((name) => new Queue(name));
    play.bucket.fails = true;
    let tries = 0;
    for (let look = 0; look < 60; look++) {
      const until = play.watch.due(queues[0]!);
      if (until !== undefined) tries++;
      await play.clock.advance(2_000);
      assert.equal(queues[0]!.unsightedTimes, tries);
    }
    assert.ok(tries >= 4 && tries <= 8, `${tries} LISTs in two minutes`);
    play.bucket.fails = false;
    await play.clock.advance(60_000);
    assert.deepEqual(await lookOnce(play, queues), []);
  });

  it('believes no store that says more follows after nothing', async () => {
    const play = await stage([]);
    const nothing: ListPage = { objects: [], truncated: true };
    play.bucket.list = async () => nothing;
    const queue = new Queue('q');
    assert.notEqual(play.watch.due(queue), undefined);
    await play.clock.advance(1);
    assert.equal(queue.unsightedTimes, 1);
    assert.equal(play.watch.due(queue), undefined);
  });

  it('lets a queue wait for a LIST that hangs as long as its own interval', async () => {
    const play = await stage(numbered(3));
    const queues = numbered(3).map((name) => new Queue(name));
    let answer: (page: ListPage) => void = () => {};
    play.bucket.list = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    const began = play.clock.monotonicMillis();
    const until = play.watch.due(queues[0]!)!;
    assert.ok(until > began + 1_900 && until < began + 2_100, `${until - began} ms`);
    await play.clock.advance(1_000);
    assert.equal(play.watch.due(queues[1]!), until);
    await play.clock.advance(1_100);
    assert.equal(play.watch.due(queues[0]!), undefined);
    assert.equal(play.watch.due(queues[1]!), undefined);
    answer({ objects: [], truncated: false });
    await play.clock.advance(1);
    const [sighting] = queues[1]!.sightings;
    assert.equal(sighting?.tag satisfies ETag | undefined, undefined);
    assert.ok(sighting!.began < began + 1, 'counted from the beginning of the LIST');
  });
});
