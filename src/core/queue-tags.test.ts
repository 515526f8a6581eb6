import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { OneQueue, setOf } from '../../test/model/one-queue.ts';
import type { Command } from './command.ts';
import { TAGS_MAX, tagKeysProblem, tagsProblem } from './queue-tags.ts';

const tags = (record: Readonly<Record<string, string>>) => new Map(Object.entries(record));
const numbered = (count: number, from = 0) =>
  new Map(Array.from({ length: count }, (_, index) => [`k${index + from}`, 'v'] as const));
const change = (
  add: ReadonlyMap<string, string>,
  remove: readonly string[] = [],
): Command & { readonly kind: 'change-tags' } => ({ kind: 'change-tags', add, remove });
const done = (effect: boolean) => ({ outcome: { kind: 'done' }, effect });

describe('tags are accepted', () => {
  it('with keys of 1 to 128 and values of 0 to 256 characters, an emoji outside', () => {
    const good: Readonly<Record<string, string>>[] = [
      { k: '' },
      { ['k'.repeat(128)]: 'v'.repeat(256) },
      { 'Kosten stelle_.:/=+-@9': 'Ü ñ 日本 ٣' },
      { ['𝒜'.repeat(128)]: '𝒜'.repeat(256) },
      { awsome: 'aws:' },
      { ['__proto__']: 'constructor' },
    ];
    for (const record of good) assert.equal(tagsProblem(tags(record)), undefined, JSON.stringify(record));
    const bad: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
      [{ '': 'v' }, 'key-length'],
      [{ ['k'.repeat(129)]: 'v' }, 'key-length'],
      [{ ['𝒜'.repeat(129)]: 'v' }, 'key-length'],
      [{ 'a,b': 'v' }, 'key-characters'],
      [{ '🎉': 'v' }, 'key-characters'],
      [{ '\ud800': 'v' }, 'key-characters'],
      [{ 'aws:x': 'v' }, 'key-reserved'],
      [{ 'AwS:x': 'v' }, 'key-reserved'],
      [{ k: 'v'.repeat(257) }, 'value-length'],
      [{ k: 'a;b' }, 'value-characters'],
      [{ good: 'good', k: '\u0000' }, 'value-characters'],
    ];
    for (const [record, problem] of bad)
      assert.equal(tagsProblem(tags(record)), problem, JSON.stringify(record));
  });

  it('up to 50 at a time; keys to be removed are judged by length and characters alone', () => {
    assert.equal(tagsProblem(numbered(TAGS_MAX)), undefined);
    assert.equal(tagsProblem(numbered(TAGS_MAX + 1)), 'too-many');
    assert.equal(tagKeysProblem(['aws:x', 'k']), undefined);
    assert.equal(tagKeysProblem(['k', '']), 'key-length');
    assert.equal(tagKeysProblem(['k', 'a*']), 'key-characters');
  });
});

describe('a change of tags', () => {
  it('adds, overwrites and removes, by keys that differ in case', () => {
    const queue = new OneQueue();
    const [added] = queue.commit(change(tags({ MyTag: '1', mytag: '2', third: '' })));
    assert.deepEqual(added, done(true));
    assert.deepEqual(queue.state.tags, tags({ MyTag: '1', mytag: '2', third: '' }));
    queue.commit(change(tags({ mytag: '3', fourth: '4' }), ['third']));
    assert.deepEqual(queue.state.tags, tags({ MyTag: '1', mytag: '3', fourth: '4' }));
  });

  it('that changes nothing has no effect: equal values, keys that are not there', () => {
    const queue = new OneQueue();
    queue.commit(change(tags({ a: '1' })));
    const before = queue.state;
    assert.deepEqual(queue.commit(change(tags({ a: '1' })), change(new Map(), ['b'])), [
      done(false),
      done(false),
    ]);
    assert.equal(queue.state, before);
  });

  it('is refused as a whole where more than 50 would be there, and never when it only removes', () => {
    const queue = new OneQueue();
    queue.commit(change(numbered(49)));
    const [refused, allowed] = queue.commit(
      change(tags({ k0: 'new', x: '', y: '' })),
      change(tags({ k0: 'newer', x: '' })),
    );
    assert.deepEqual(refused, { outcome: { kind: 'too-many-tags' }, effect: false });
    assert.deepEqual(allowed, done(true));
    assert.equal(queue.state.tags.size, 50);
    assert.deepEqual([queue.state.tags.get('k0'), queue.state.tags.has('y')], ['newer', false]);
    assert.deepEqual(queue.commit(change(new Map(), ['k0']))[0], done(true));
  });

  it('leaves attributes, their time and everything else as they are', () => {
    const queue = new OneQueue();
    queue.commit(setOf({ DelaySeconds: '0' }));
    queue.send('a');
    const { tags: _, version: __, writers: ___, timeMillis: ____, ...before } = queue.state;
    queue.nowMillis += 5_000;
    queue.commit(change(tags({ a: '1' })));
    const { tags: now, version, writers, timeMillis, ...after } = queue.state;
    assert.deepEqual(now, tags({ a: '1' }));
    assert.deepEqual(after, before);
  });

  it('does what a map would, in the order of the commands', () => {
    const key = fc.constantFrom('a', 'b', 'c', 'd');
    const command = fc.record({
      add: fc.array(fc.tuple(key, fc.constantFrom('', '1', '2')), { maxLength: 3 }),
      remove: fc.array(key, { maxLength: 3 }),
    });
    fc.assert(
      fc.property(
        fc.array(fc.array(command, { minLength: 1, maxLength: 3 }), { maxLength: 6 }),
        (batches) => {
          const queue = new OneQueue();
          const model = new Map<string, string>();
          for (const batch of batches) {
            queue.commit(...batch.map(({ add, remove }) => change(new Map(add), remove)));
            for (const { add, remove } of batch) {
              for (const gone of remove) model.delete(gone);
              for (const [name, value] of add) model.set(name, value);
            }
            assert.deepEqual(queue.state.tags, model);
          }
        },
      ),
    );
  });
});
