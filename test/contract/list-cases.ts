/** Listing: order, prefix, paging, freshness. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ETag } from '../../src/store/object-store.ts';
import {
  type FreshKeys,
  inParallel,
  namesOf,
  type StoreUnderTest,
  text,
  written,
} from './contract-support.ts';

export function describeListing(under: StoreUnderTest, keys: FreshKeys): void {
  describe(`${under.name}: listing`, () => {
    it('lists in the order of bytes, across folders, with sizes and tags', async () => {
      const { store, root } = await keys();
      const names = [
        'b/2',
        'a-b',
        'a.b',
        'a/b',
        'a0',
        'aB',
        'a_b',
        'ab',
        'b/10',
        'B',
        'Z/z',
        'a/c/d',
        'a-c/x',
      ];
      const tags = new Map<string, ETag>();
      for (const name of names) tags.set(`${root}/${name}`, await written(store, `${root}/${name}`, name));
      const page = await store.list({ prefix: `${root}/` });
      assert.equal(page.truncated, false);
      assert.deepEqual(
        page.objects.map((object) => [object.key, object.bytes, object.etag]),
        [...tags]
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([key, etag]) => [key, key.length - root.length - 1, etag]),
      );
    });

    it('takes a prefix as characters, not as a folder', async () => {
      const { store, root } = await keys();
      for (const name of ['queue-1', 'queue-12', 'queue-2', 'queue-1.d/x', 'other'])
        await written(store, `${root}/${name}`, name);
      const list = async (prefix: string) =>
        namesOf((await store.list({ prefix: `${root}/${prefix}` })).objects, root);
      assert.deepEqual(await list('queue-1'), ['queue-1', 'queue-1.d/x', 'queue-12']);
      assert.deepEqual(await list('queue-1.d/'), ['queue-1.d/x']);
      assert.deepEqual(await list('q'), ['queue-1', 'queue-1.d/x', 'queue-12', 'queue-2']);
      assert.deepEqual(await list('none'), []);
    });

    it('goes on after a key, which need not exist', async () => {
      const { store, root } = await keys();
      for (const name of ['a', 'b', 'c/d', 'e']) await written(store, `${root}/${name}`, name);
      const after = async (name: string) =>
        namesOf((await store.list({ prefix: `${root}/`, startAfter: `${root}/${name}` })).objects, root);
      assert.deepEqual(await after('a'), ['b', 'c/d', 'e']);
      assert.deepEqual(await after('aa'), ['b', 'c/d', 'e']);
      assert.deepEqual(await after('c/d'), ['e']);
      assert.deepEqual(await after('e'), []);
    });
  });
}

export function describePaging(under: StoreUnderTest, keys: FreshKeys): void {
  describe(`${under.name}: paging`, () => {
    it('says truncated exactly when more follows', async () => {
      const { store, root } = await keys();
      for (const name of ['a', 'b', 'c']) await written(store, `${root}/${name}`, name);
      const first = await store.list({ prefix: `${root}/`, limit: 2 });
      assert.deepEqual([namesOf(first.objects, root), first.truncated], [['a', 'b'], true]);
      const rest = await store.list({ prefix: `${root}/`, limit: 2, startAfter: `${root}/b` });
      assert.deepEqual([namesOf(rest.objects, root), rest.truncated], [['c'], false]);
      const exact = await store.list({ prefix: `${root}/`, limit: 3 });
      assert.deepEqual([exact.objects.length, exact.truncated], [3, false]);
      await assert.rejects(store.list({ prefix: `${root}/`, limit: 0 }), RangeError);
      await assert.rejects(store.list({ prefix: `${root}/`, limit: 1001 }), RangeError);
    });

    it('pages through more than a thousand keys without a gap or a repetition', async () => {
      const { store, clients, root } = await keys();
      const names = Array.from({ length: 1_203 }, (_, index) => `n${String(index).padStart(5, '0')}`);
      await inParallel(clients, names, (client, name) => client.put(`${root}/${name}`, text(name)));
      const seen: string[] = [];
      for (let startAfter: string | undefined; ; ) {
        const page = await store.list({
          prefix: `${root}/`,
          ...(startAfter === undefined ? {} : { startAfter }),
        });
        seen.push(...namesOf(page.objects, root));
        if (!page.truncated) break;
        assert.equal(page.objects.length, 1_000);
        startAfter = page.objects.at(-1)!.key;
      }
      assert.deepEqual(seen, names);
      await inParallel(clients, names, (client, name) => client.delete(`${root}/${name}`));
      assert.deepEqual((await store.list({ prefix: `${root}/` })).objects, []);
    });

    it('shows a put at once and forgets a delete at once', async () => {
      const { store, clients, root } = await keys();
      for (let round = 0; round < 10; round += 1) {
        const etag = await written(clients[round % clients.length]!, `${root}/object`, `round ${round}`);
        const [listed] = (await store.list({ prefix: root })).objects;
        assert.equal(listed?.etag, etag);
      }
      await store.delete(`${root}/object`);
      assert.deepEqual((await store.list({ prefix: root })).objects, []);
    });

    it('shows the tag of a swap at once, as a GET does', async () => {
      const { store, clients, root } = await keys();
      const key = `${root}/swapped`;
      let etag = await written(store, key, 'created');
      for (let round = 0; round < 10; round += 1) {
        const swap = await clients[round % clients.length]!.putIfMatch(key, text(`swap ${round}`), etag);
        assert.equal(swap.kind, 'done');
        if (swap.kind === 'done') etag = swap.etag;
        const [listed] = (await store.list({ prefix: root })).objects;
        const got = await store.get(key);
        assert.deepEqual([listed?.etag, got.kind === 'done' && got.etag], [etag, etag]);
      }
    });
  });
}
