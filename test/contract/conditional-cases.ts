/** Compare-and-swap: the register that the whole of okuri rests on. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  assertLost,
  assertOneWinner,
  bodyOf,
  type FreshKeys,
  type StoreUnderTest,
  TAG_OF_NOTHING,
  text,
  written,
} from './contract-support.ts';

export function describeConditions(under: StoreUnderTest, keys: FreshKeys): void {
  describe(`${under.name}: conditional writes`, () => {
    it('creates once', async () => {
      const { store, root } = await keys();
      const key = `${root}/object`;
      const created = await store.putIfAbsent(key, text('first'));
      assert.ok(created.kind === 'done');
      assert.deepEqual(await store.putIfAbsent(key, text('second')), { kind: 'conflict' });
      assert.deepEqual(await bodyOf(store, key), text('first'));
      await store.delete(key);
      assert.equal((await store.putIfAbsent(key, text('third'))).kind, 'done');
    });

    it('swaps with the tag of a create, of a swap, of a get and of a list', async () => {
      const { store, root } = await keys();
      const key = `${root}/object`;
      const created = await store.putIfAbsent(key, text('v1'));
      assert.ok(created.kind === 'done');
      const second = await store.putIfMatch(key, text('v2'), created.etag);
      assert.ok(second.kind === 'done');
      const third = await store.putIfMatch(key, text('v3'), second.etag);
      assert.ok(third.kind === 'done');
      const got = await store.get(key);
      assert.ok(got.kind === 'done');
      assert.equal(got.etag, third.etag);
      const fourth = await store.putIfMatch(key, text('v4'), got.etag);
      assert.ok(fourth.kind === 'done');
      const [listed] = (await store.list({ prefix: key })).objects;
      assert.equal(listed?.etag, fourth.etag);
      assert.equal((await store.putIfMatch(key, text('v5'), listed!.etag)).kind, 'done');
      assert.deepEqual(await bodyOf(store, key), text('v5'));
    });

    it('changes nothing by a swap with a tag of before or of nowhere', async () => {
      const { store, root } = await keys();
      const key = `${root}/object`;
      const first = await written(store, key, 'one');
      await written(store, key, 'two');
      assert.deepEqual(await store.putIfMatch(key, text('lost'), first), { kind: 'conflict' });
      assert.deepEqual(await store.putIfMatch(key, text('lost'), TAG_OF_NOTHING), { kind: 'conflict' });
      assert.deepEqual(await bodyOf(store, key), text('two'));
    });

    it('creates nothing by a swap of a missing key', async () => {
      const { store, root } = await keys();
      const key = `${root}/none`;
      assertLost(await store.putIfMatch(key, text('x'), TAG_OF_NOTHING));
      assert.deepEqual(await store.get(key), { kind: 'missing' });
      const etag = await written(store, key, 'here');
      await store.delete(key);
      assertLost(await store.putIfMatch(key, text('x'), etag));
      assert.deepEqual(await store.get(key), { kind: 'missing' });
    });
  });
}

export function describeConditionalDeletes(under: StoreUnderTest, keys: FreshKeys): void {
  describe(`${under.name}: conditional deletes`, () => {
    it('deletes by a tag only what still has it', async () => {
      const { store, root } = await keys();
      const key = `${root}/object`;
      const first = await written(store, key, 'one');
      const second = await written(store, key, 'two');
      assert.deepEqual(await store.deleteIfMatch(key, first), { kind: 'conflict' });
      assert.deepEqual(await bodyOf(store, key), text('two'));
      assert.deepEqual(await store.deleteIfMatch(key, second), { kind: 'done' });
      assert.deepEqual(await store.get(key), { kind: 'missing' });
      // AWS and versitygw answer the delete of what isn't there as done, whatever the tag.
      assert.notEqual((await store.deleteIfMatch(key, second)).kind, 'unknown');
      assert.deepEqual(await store.get(key), { kind: 'missing' });
    });
  });
}

export function describeRaces(under: StoreUnderTest, keys: FreshKeys): void {
  describe(`${under.name}: races`, () => {
    it('lets one of eight clients create', async () => {
      const { store, clients, root } = await keys();
      for (let round = 0; round < 5; round += 1) {
        const key = `${root}/create-${round}`;
        const outcomes = await Promise.all(
          clients.map((client, index) => client.putIfAbsent(key, text(`by ${index}`))),
        );
        assertOneWinner(outcomes);
        const winner = outcomes.findIndex((outcome) => outcome.kind === 'done');
        assert.deepEqual(await bodyOf(store, key), text(`by ${winner}`));
      }
    });

    it('lets one of eight clients swap a tag', async () => {
      const { store, clients, root } = await keys();
      const key = `${root}/swap`;
      let etag = await written(store, key, 'start');
      for (let round = 0; round < 5; round += 1) {
        const tag = etag;
        const outcomes = await Promise.all(
          clients.map((client, index) => client.putIfMatch(key, text(`${round} by ${index}`), tag)),
        );
        assertOneWinner(outcomes);
        const winner = outcomes.findIndex((outcome) => outcome.kind === 'done');
        assert.deepEqual(await bodyOf(store, key), text(`${round} by ${winner}`));
        const won = outcomes[winner]!;
        assert.ok(won.kind === 'done');
        etag = won.etag;
      }
    });

    it('loses no increment of eight clients that count by compare-and-swap', async () => {
      const { store, clients, root } = await keys();
      const key = `${root}/counter`;
      await written(store, key, '0');
      const increments = 5;
      await Promise.all(
        clients.map(async (client) => {
          for (let done = 0; done < increments; ) {
            const got = await client.get(key);
            assert.ok(got.kind === 'done');
            const next = Number(new TextDecoder().decode(got.body)) + 1;
            const outcome = await client.putIfMatch(key, text(String(next)), got.etag);
            if (outcome.kind === 'done') done += 1;
          }
        }),
      );
      assert.deepEqual(await bodyOf(store, key), text(String(increments * clients.length)));
    });
  });
}
