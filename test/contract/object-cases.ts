/** Reading, replacing and deleting whole objects. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  bodyOf,
  type FreshKeys,
  pattern,
  type StoreUnderTest,
  same,
  TAG_OF_NOTHING,
  text,
  written,
} from './contract-support.ts';

export function describeObjects(under: StoreUnderTest, keys: FreshKeys): void {
  describe(`${under.name}: objects`, () => {
    it('gives back the bytes, the tag and the time of a put', async () => {
      const { store, root } = await keys();
      const key = `${root}/object`;
      const put = await store.put(key, text('hello'));
      assert.ok(put.kind === 'done');
      const got = await store.get(key);
      assert.ok(got.kind === 'done');
      assert.deepEqual(got.body, text('hello'));
      assert.equal(got.etag, put.etag);
      const skewMillis = Math.abs(got.lastModified.millis - Date.now());
      assert.ok(skewMillis < under.clockSkewMillisMax, `store is ${skewMillis} ms off`);
      if (put.time !== undefined) {
        const spreadMillis = Math.abs(put.time.millis - got.lastModified.millis);
        assert.ok(spreadMillis <= 5_000 + put.time.resolutionMillis, `times ${spreadMillis} ms apart`);
      }
    });

    it('answers missing for a key that was never written, in every operation that reads it', async () => {
      const { store, root } = await keys();
      const key = `${root}/none`;
      assert.deepEqual(await store.get(key), { kind: 'missing' });
      assert.deepEqual(await store.get(key, { ifNoneMatch: TAG_OF_NOTHING }), { kind: 'missing' });
      assert.deepEqual(await store.delete(key), { kind: 'done' });
    });

    it('answers unchanged only to the tag the object has', async () => {
      const { store, root } = await keys();
      const key = `${root}/object`;
      const first = await written(store, key, 'one');
      assert.deepEqual(await store.get(key, { ifNoneMatch: first }), { kind: 'unchanged' });
      const second = await written(store, key, 'two');
      const got = await store.get(key, { ifNoneMatch: first });
      assert.ok(got.kind === 'done');
      assert.deepEqual(got.body, text('two'));
      assert.equal(got.etag, second);
    });

    it('replaces by a plain put and removes by a delete, which may be repeated', async () => {
      const { store, root } = await keys();
      const key = `${root}/object`;
      const first = await written(store, key, 'one');
      const second = await written(store, key, 'two, longer');
      assert.notEqual(first, second);
      assert.deepEqual(await bodyOf(store, key), text('two, longer'));
      assert.deepEqual(await store.delete(key), { kind: 'done' });
      assert.deepEqual(await store.get(key), { kind: 'missing' });
      assert.deepEqual(await store.delete(key), { kind: 'done' });
    });
  });
}

export function describeBodies(under: StoreUnderTest, keys: FreshKeys): void {
  describe(`${under.name}: bodies`, () => {
    it('keeps empty bodies and every byte value', async () => {
      const { store, root } = await keys();
      await written(store, `${root}/empty`, '');
      assert.deepEqual(await bodyOf(store, `${root}/empty`), new Uint8Array(0));
      const all = Uint8Array.from({ length: 256 }, (_, value) => value);
      await store.put(`${root}/all`, all);
      assert.deepEqual(await bodyOf(store, `${root}/all`), all);
    });

    for (const bytes of [1024 * 1024, 5 * 1024 * 1024]) {
      it(`keeps a body of ${bytes} bytes through create, swap and read`, async () => {
        const { store, root } = await keys();
        const key = `${root}/large`;
        const first = pattern(bytes, 7);
        const created = await store.putIfAbsent(key, first);
        assert.ok(created.kind === 'done');
        assert.ok(same(await bodyOf(store, key), first), 'the body differs after the create');
        const second = pattern(bytes, 11);
        const swapped = await store.putIfMatch(key, second, created.etag);
        assert.ok(swapped.kind === 'done');
        assert.ok(same(await bodyOf(store, key), second), 'the body differs after the swap');
        await store.delete(key);
      });
    }

    it('gives one caller bytes that another caller cannot change', async () => {
      const { store, root } = await keys();
      const key = `${root}/object`;
      const body = text('mine');
      await store.put(key, body);
      body.fill(0);
      const once = await bodyOf(store, key);
      assert.deepEqual(once, text('mine'));
      once.fill(0);
      assert.deepEqual(await bodyOf(store, key), text('mine'));
    });
  });
}

export function describeKeys(under: StoreUnderTest, keys: FreshKeys): void {
  describe(`${under.name}: keys`, () => {
    it('takes every character that keys have', async () => {
      const { store, root } = await keys();
      const names = [
        'ABCDEFGHIJKLMNOPQRSTUVWXYZ',
        'abcdefghijklmnopqrstuvwxyz',
        '0123456789',
        '-_.',
        '.hidden',
        '-dash',
        'a.b',
        'a/b/c',
        `n${'0'.repeat(200)}`,
      ];
      for (const name of names) await written(store, `${root}/${name}`, name);
      for (const name of names) assert.deepEqual(await bodyOf(store, `${root}/${name}`), text(name));
      const listed = await store.list({ prefix: `${root}/` });
      assert.deepEqual(
        listed.objects.map((object) => object.key),
        names.map((name) => `${root}/${name}`).sort(),
      );
    });

    if (under.keyMayBeFolder) {
      it('keeps a key apart from the keys below it', async () => {
        const { store, root } = await keys();
        const names = ['a', 'a/b', 'a/b/c'];
        for (const name of names) await written(store, `${root}/${name}`, name);
        await store.delete(`${root}/a/b`);
        assert.deepEqual(await store.get(`${root}/a/b`), { kind: 'missing' });
        assert.deepEqual(await bodyOf(store, `${root}/a`), text('a'));
        assert.deepEqual(await bodyOf(store, `${root}/a/b/c`), text('a/b/c'));
      });
    }

    it('refuses what is not a key, before anything is written', async () => {
      const { store } = await keys();
      for (const key of [
        '',
        '/',
        '/a',
        'a/',
        'a//b',
        '.',
        '..',
        'a/../b',
        'a b',
        'ä',
        'a%2e',
        'a\0',
        'x'.repeat(2000),
      ]) {
        await assert.rejects(store.put(key, text('x')), TypeError, JSON.stringify(key));
        await assert.rejects(store.get(key), TypeError, JSON.stringify(key));
      }
    });
  });
}
