import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemoryStore } from './memory-store.ts';
import {
  type DeleteIfMatchOutcome,
  type ETag,
  type ListPage,
  type ListRequest,
  type PutIfAbsentOutcome,
  type PutIfMatchOutcome,
  StoreError,
} from './object-store.ts';
import { type IfMatchForm, type ProbeName, probeStore, type Versioning } from './probe.ts';

const NONCE = Uint8Array.from([1, 2, 3, 4, 5, 6, 7, 0xab]);
const options = { nowMillis: () => 0 };

/** Accepts the header and overwrites. */
class IgnoresIfNoneMatch extends MemoryStore {
  override async putIfAbsent(key: string, body: Uint8Array): Promise<PutIfAbsentOutcome> {
    return this.put(key, body);
  }
}

class IgnoresIfMatch extends MemoryStore {
  override async putIfMatch(key: string, body: Uint8Array): Promise<PutIfMatchOutcome> {
    return (await this.get(key)).kind === 'missing' ? { kind: 'missing' } : this.put(key, body);
  }
}

class CreatesOnIfMatch extends MemoryStore {
  override async putIfMatch(key: string, body: Uint8Array, etag: ETag): Promise<PutIfMatchOutcome> {
    const outcome = await super.putIfMatch(key, body, etag);
    return outcome.kind === 'missing' ? this.put(key, body) : outcome;
  }
}

/** Compares, then writes, with a gap in between. */
class ComparesThenWrites extends MemoryStore {
  override async putIfMatch(key: string, body: Uint8Array, etag: ETag): Promise<PutIfMatchOutcome> {
    const got = await this.get(key);
    if (got.kind === 'missing') return { kind: 'missing' };
    return got.kind === 'done' && got.etag === etag ? this.put(key, body) : { kind: 'conflict' };
  }
}

/** Answers one winner, but writes what a loser sent. */
class WritesTheLoser extends MemoryStore {
  override async putIfMatch(key: string, body: Uint8Array, etag: ETag): Promise<PutIfMatchOutcome> {
    const outcome = await super.putIfMatch(key, body, etag);
    if (outcome.kind === 'conflict' && new TextDecoder().decode(body).startsWith('swap'))
      await this.put(key, body);
    return outcome;
  }
}

class RefusesEverySwap extends MemoryStore {
  override async putIfMatch(): Promise<PutIfMatchOutcome> {
    throw new StoreError('501 NotImplemented', { retryable: false });
  }
}

/** LIST lags one LIST behind. */
class StaleList extends MemoryStore {
  #page: ListPage = { objects: [], truncated: false };
  override async list(request: ListRequest): Promise<ListPage> {
    const page = this.#page;
    this.#page = await super.list(request);
    return page;
  }
}

/** Shows the key at once, but the tag of before. */
class ListsOldTags extends MemoryStore {
  override async list(request: ListRequest): Promise<ListPage> {
    const page = await super.list(request);
    return { ...page, objects: page.objects.map((object) => ({ ...object, etag: '"memory-1"' as ETag })) };
  }
}

/** A cache of what LIST showed before of a key: right the first time, and once for each tag when it is old. */
class ListsTagsLate extends MemoryStore {
  readonly #seen = new Map<string, ETag>();
  override async list(request: ListRequest): Promise<ListPage> {
    const page = await super.list(request);
    const objects = page.objects.map((object) => ({
      ...object,
      etag: this.#seen.get(object.key) ?? object.etag,
    }));
    for (const { key, etag } of page.objects) this.#seen.set(key, etag);
    return { ...page, objects };
  }
}

class DeletesRegardless extends MemoryStore {
  override async deleteIfMatch(key: string): Promise<DeleteIfMatchOutcome> {
    return this.delete(key);
  }
}

class NoConditionalDelete extends MemoryStore {
  override async deleteIfMatch(): Promise<DeleteIfMatchOutcome> {
    throw new StoreError('501 NotImplemented', { retryable: false });
  }
}

class SometimesUnknown extends MemoryStore {
  override async putIfAbsent(): Promise<PutIfAbsentOutcome> {
    return { kind: 'unknown', throttled: true, reason: 'test' };
  }
}

class Unreachable extends MemoryStore {
  override async put(): Promise<never> {
    throw new StoreError('refused', { retryable: true });
  }
}

class DeniesAccess extends MemoryStore {
  override async put(): Promise<never> {
    throw new StoreError('403 AccessDenied', { retryable: false });
  }
}

/** Takes tags in one form only, as an adapter would send them. */
class WantsForm extends MemoryStore {
  ifMatchForm: IfMatchForm = 'as-received';
  readonly wanted: IfMatchForm | undefined;
  readonly state: Versioning;

  constructor(wanted: IfMatchForm | undefined, state: Versioning = 'off') {
    super(options);
    this.wanted = wanted;
    this.state = state;
  }

  override async putIfMatch(key: string, body: Uint8Array, etag: ETag): Promise<PutIfMatchOutcome> {
    return this.ifMatchForm === this.wanted ? super.putIfMatch(key, body, etag) : { kind: 'conflict' };
  }

  async versioning(): Promise<Versioning> {
    return this.state;
  }
}

async function leftOver(store: MemoryStore): Promise<string[]> {
  return (await MemoryStore.prototype.list.call(store, { prefix: '' })).objects.map((object) => object.key);
}

describe('start-up probe', () => {
  it('accepts a store that compares and swaps, and leaves nothing behind', async () => {
    const store = new MemoryStore(options);
    assert.deepEqual(await probeStore(store, { nonce: NONCE }), {
      ok: true,
      conditionalDelete: true,
      listTags: true,
      ifMatchForm: 'as-received',
      warnings: [],
    });
    assert.deepEqual(await leftOver(store), []);
  });

  const dishonest: [string, MemoryStore, ProbeName][] = [
    ['ignores If-None-Match', new IgnoresIfNoneMatch(options), 'create once'],
    ['ignores If-Match', new IgnoresIfMatch(options), 'swap with a wrong tag'],
    ['creates on If-Match of a missing key', new CreatesOnIfMatch(options), 'swap of a missing key'],
    ['has two winners of a swap', new ComparesThenWrites(options), 'concurrent swaps'],
    ['keeps what a loser wrote', new WritesTheLoser(options), 'concurrent swaps'],
    ['refuses every swap', new RefusesEverySwap(options), 'swap with the right tag'],
    ['lists stale', new StaleList(options), 'list after write'],
    ['denies access', new DeniesAccess(options), 'read after write'],
    ['takes no form of the tag', new WantsForm(undefined), 'swap with the right tag'],
  ];
  for (const [name, store, failedProbe] of dishonest) {
    it(`refuses a store that ${name}, and names the probe`, async () => {
      const adapter = store instanceof WantsForm ? { adapter: store } : {};
      const result = await probeStore(store, { nonce: NONCE, ...adapter });
      assert.ok(!result.ok, 'the store was accepted');
      assert.equal(result.failedProbe, failedProbe);
      assert.ok(result.detail.length > 0);
      if (!(store instanceof DeniesAccess)) assert.deepEqual(await leftOver(store), []);
    });
  }

  for (const store of [new DeletesRegardless(options), new NoConditionalDelete(options)]) {
    it(`knows ${store.constructor.name} as a store without conditional deletes, and warns`, async () => {
      const result = await probeStore(store, { nonce: NONCE });
      assert.ok(result.ok);
      assert.equal(result.conditionalDelete, false);
      assert.match(result.warnings.join(), /conditional DELETE/);
      assert.deepEqual(await leftOver(store), []);
    });
  }

  for (const store of [new ListsOldTags(options), new ListsTagsLate(options)]) {
    it(`knows ${store.constructor.name} as a store whose LIST tells no tags, and warns`, async () => {
      const result = await probeStore(store, { nonce: NONCE });
      assert.ok(result.ok);
      assert.equal(result.listTags, false);
      assert.match(result.warnings.join(), /LIST shows other tags/);
      assert.deepEqual(await leftOver(store), []);
    });
  }

  for (const form of ['as-received', 'strong', 'unquoted'] as const) {
    it(`finds the form of the tag that the store takes: ${form}`, async () => {
      const store = new WantsForm(form);
      const result = await probeStore(store, { nonce: NONCE, adapter: store });
      assert.ok(result.ok);
      assert.equal(result.ifMatchForm, form);
      assert.equal(store.ifMatchForm, form);
    });
  }

  for (const state of ['enabled', 'suspended'] as const) {
    it(`warns of a bucket with versioning ${state} and names the lifecycle rule`, async () => {
      const store = new WantsForm('as-received', state);
      const result = await probeStore(store, { nonce: NONCE, adapter: store });
      assert.ok(result.ok);
      assert.match(result.warnings.join(), new RegExp(`versioning is ${state}.*NoncurrentVersionExpiration`));
    });
  }

  it('does not judge a store that is down or has no certain answer', async () => {
    for (const store of [new Unreachable(options), new SometimesUnknown(options)]) {
      await assert.rejects(
        probeStore(store, { nonce: NONCE }),
        (error) => error instanceof StoreError && error.retryable,
      );
    }
  });
});
