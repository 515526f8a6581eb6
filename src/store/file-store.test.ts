import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { FileStore } from './file-store.ts';
import { FileStoreClock } from './file-store-clock.ts';
import { MemoryStore } from './memory-store.ts';
import { type ListedObject, type ListRequest, type ObjectStore, StoreError } from './object-store.ts';

async function withFolder<Result>(use: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'okuri-file-'));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function withStore<Result>(
  use: (store: FileStore, folder: string) => Promise<Result>,
): Promise<Result> {
  return withFolder(async (folder) => {
    const store = await FileStore.open({ folder });
    try {
      return await use(store, folder);
    } finally {
      await store.close();
    }
  });
}

const BODY = new TextEncoder().encode('body');

describe('file store', () => {
  it('makes its folder with all that is missing above it, and says at once where none can be made', async () => {
    await withFolder(async (folder) => {
      const deep = join(folder, 'a', 'b', 'c');
      await (await FileStore.open({ folder: deep })).close();
      await (await FileStore.open({ folder: deep })).close();
      const file = join(folder, 'file');
      await writeFile(file, '');
      for (const impossible of [join(file, 'below'), '/proc/okuri/below'])
        await assert.rejects(FileStore.open({ folder: impossible }), StoreError);
    });
  });

  it('lists as the memory store does, whatever the keys', async () => {
    // Few letters on either side of the slash in ASCII, so that keys often share folders and prefixes.
    const part = fc.string({ unit: fc.constantFrom('-', 'a', '.', '0', 'B'), minLength: 1, maxLength: 3 });
    const key = fc
      .array(part, { minLength: 1, maxLength: 4 })
      .map((parts) => parts.join('/'))
      .filter((joined) => joined.split('/').every((each) => each !== '.' && each !== '..'));
    const request = fc.record({
      prefix: fc.oneof(fc.constant(''), key),
      after: key,
      limit: fc.integer({ min: 1, max: 6 }),
    });
    await withStore(async (store) => {
      const property = fc.asyncProperty(
        fc.array(key, { maxLength: 20 }),
        fc.array(request),
        async (keys, requests) => {
          const memory = new MemoryStore({ nowMillis: () => 0 });
          for (const each of keys) {
            await memory.put(each, BODY);
            await store.put(each, BODY);
          }
          for (const { prefix, after, limit } of requests) {
            for (const list of [{ prefix, limit }, { prefix, startAfter: after, limit }, { prefix }]) {
              assert.deepEqual(await listed(store, list), await listed(memory, list));
            }
          }
          for (const each of keys) await store.delete(each);
          assert.deepEqual((await store.list({ prefix: '' })).objects, []);
        },
      );
      await fc.assert(property, { numRuns: 25 });
    });
  });

  it('survives puts and deletes that make and remove the same folder under each other', async () => {
    await withStore(async (store, folder) => {
      const lane = async (name: string) => {
        for (let round = 0; round < 40; round += 1) {
          assert.equal((await store.put(`a/b/${name}`, BODY)).kind, 'done');
          assert.equal((await store.get(`a/b/${name}`)).kind, 'done');
          assert.equal((await store.delete(`a/b/${name}`)).kind, 'done');
        }
      };
      await Promise.all(['1', '2', '3', '4'].map(lane));
      // Empty folders don't pile up under deleted queues.
      assert.deepEqual(await readdir(join(folder, 'objects')), []);
    });
  });

  it('shows a reader the old object or the new one, whole', async () => {
    await withStore(async (store) => {
      const bodies = [new Uint8Array(300_000).fill(1), new Uint8Array(200_000).fill(2)];
      await store.put('key', bodies[0]!);
      let writing = true;
      const writer = (async () => {
        for (let round = 0; round < 60; round += 1) await store.put('key', bodies[round % 2]!);
        writing = false;
      })();
      while (writing) {
        const got = await store.get('key');
        assert.ok(got.kind === 'done');
        const first = got.body[0]!;
        assert.equal(got.body.length, bodies[first - 1]?.length);
        assert.ok(got.body.every((byte) => byte === first));
      }
      await writer;
    });
  });

  it('ignores left-over temporary files and files that are not objects, and removes the former', async () => {
    await withFolder(async (folder) => {
      await mkdir(join(folder, 'temp'));
      await mkdir(join(folder, 'objects', 'm'), { recursive: true });
      await writeFile(join(folder, 'temp', '1'), 'cut o');
      await writeFile(join(folder, 'objects', 'm', 'README'), 'not ours');
      const store = await FileStore.open({ folder });
      assert.deepEqual(await readdir(join(folder, 'temp')), []);
      assert.deepEqual((await store.list({ prefix: '' })).objects, []);
      assert.deepEqual(await store.get('m/README'), { kind: 'missing' });
      assert.equal((await store.putIfAbsent('m/README', BODY)).kind, 'done');
      await store.close();
    });
  });

  it('reports a damaged object and never calls it missing', async () => {
    await withStore(async (store, folder) => {
      await store.put('m/queue', BODY);
      await truncate(join(folder, 'objects', 'm', 'queue@'), 20);
      for (const ask of [
        () => store.get('m/queue'),
        () => store.putIfAbsent('m/queue', BODY),
        () => store.list({ prefix: 'm/' }),
      ]) {
        await assert.rejects(
          ask,
          (error) => error instanceof StoreError && /queue@ is damaged/.test(error.message),
        );
      }
    });
  });

  it('says which folder it cannot use', async () => {
    await withFolder(async (folder) => {
      const file = join(folder, 'file');
      await writeFile(file, '');
      await assert.rejects(FileStore.open({ folder: file }), (error) => {
        return error instanceof StoreError && !error.retryable && error.message.includes(file);
      });
    });
  });

  it('finishes what was asked before it closes', async () => {
    await withFolder(async (folder) => {
      const store = await FileStore.open({ folder });
      const writes = Array.from({ length: 5 }, (_, index) => store.put('key', Uint8Array.of(index)));
      await store.close();
      for (const outcome of await Promise.all(writes)) assert.equal(outcome.kind, 'done');
      const again = await FileStore.open({ folder });
      const got = await again.get('key');
      assert.ok(got.kind === 'done');
      assert.deepEqual(got.body, Uint8Array.of(4));
      await again.close();
    });
  });
});

describe('file store: time', () => {
  it('never goes backwards, and goes on while the wall clock is behind', () => {
    const step = fc.record({ wall: fc.integer({ min: 0, max: 1e6 }), elapsed: fc.nat({ max: 1_000 }) });
    fc.assert(
      fc.property(fc.nat({ max: 1e6 }), fc.array(step), (floor, steps) => {
        let wall = 0;
        let monotonic = 5;
        const clock = new FileStoreClock({ wallMillis: () => wall, monotonicMillis: () => monotonic }, floor);
        let last = floor;
        for (const each of steps) {
          wall = each.wall;
          monotonic += each.elapsed;
          const { millis, behind } = clock.read();
          assert.equal(millis, Math.max(wall, last + each.elapsed));
          assert.equal(behind, millis - wall > 1_000);
          last = millis;
        }
      }),
    );
  });

  it('is the same in a put, a get and a list, and does not go back at a restart', async () => {
    await withFolder(async (folder) => {
      const ahead = { wallMillis: () => Date.now() + 3_600_000, monotonicMillis: () => performance.now() };
      const first = await FileStore.open({ folder, clocks: ahead });
      const before = await first.put('key', BODY);
      assert.ok(before.kind === 'done' && before.time !== undefined);
      const got = await first.get('key');
      assert.ok(got.kind === 'done');
      assert.deepEqual(got.lastModified, before.time);
      assert.deepEqual((await first.list({ prefix: '' })).objects[0]?.lastModified, before.time);
      await first.close();
      // What the file system remembers of the last write, had its clock been ahead as well.
      await utimes(join(folder, 'temp'), before.time.millis / 1000, before.time.millis / 1000);
      const second = await FileStore.open({ folder });
      const after = await second.put('key', BODY);
      assert.ok(after.kind === 'done' && after.time !== undefined);
      assert.ok(after.time.millis >= before.time.millis);
      // Told under a clock that is behind: remembered without the help of the file system's clock.
      await second.close();
      const third = await FileStore.open({ folder });
      const last = await third.put('key', BODY);
      assert.ok(last.kind === 'done' && last.time !== undefined);
      assert.ok(last.time.millis >= after.time.millis);
      await third.close();
    });
  });
});

async function listed(store: ObjectStore, request: ListRequest) {
  const page = await store.list(request);
  return {
    keys: page.objects.map(({ key, bytes }: ListedObject) => `${key} ${bytes}`),
    truncated: page.truncated,
  };
}
