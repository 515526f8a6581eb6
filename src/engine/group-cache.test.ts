import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Incarnation } from '../core/ids.ts';
import { groupHashOf } from '../core/message-groups.ts';
import type { SegmentId } from '../core/queue-state.ts';
import { GroupCache } from './group-cache.ts';

const incarnation = 'a'.repeat(32) as Incarnation;
const other = 'b'.repeat(32) as Incarnation;
const id = (n: number) => `${n}-0000000000000000` as SegmentId;

describe('the cache of groups', () => {
  it('knows the groups of a segment by ordinal', () => {
    const cache = new GroupCache();
    const hashes = cache.keep(incarnation, id(1), ['a', undefined, 'b', 'a']);
    assert.deepEqual(hashes, [groupHashOf('a'), groupHashOf(''), groupHashOf('b'), groupHashOf('a')]);
    assert.equal(cache.get(incarnation, id(1)), hashes);
    assert.equal(cache.get(other, id(1)), undefined);
    assert.equal(cache.get(incarnation, id(2)), undefined);
  });

  it('forgets the least recently used when it holds too many messages, and never the last', () => {
    const cache = new GroupCache(4);
    for (const n of [1, 2]) cache.keep(incarnation, id(n), ['a', 'b']);
    cache.get(incarnation, id(1));
    cache.keep(incarnation, id(3), ['a']);
    assert.deepEqual(
      [1, 2, 3].map((n) => cache.get(incarnation, id(n)) !== undefined),
      [true, false, true],
    );
    cache.keep(incarnation, id(3), ['a']);
    assert.ok(cache.get(incarnation, id(1)), 'kept twice is counted once');
    cache.keep(incarnation, id(4), ['a', 'b', 'c', 'd', 'e']);
    assert.deepEqual(
      [1, 3, 4].map((n) => cache.get(incarnation, id(n)) !== undefined),
      [false, false, true],
    );
  });
});
