import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type WriterId, writerIdFrom } from '../core/ids.ts';
import type { WriterEntry } from '../core/queue-state.ts';
import { Crowd } from './crowd.ts';

const idOf = (number: number): WriterId => writerIdFrom(new Uint8Array(16).fill(number));
const own = idOf(0);
const entry = (number: number, version: number, roundMillis = 50): WriterEntry => ({
  id: idOf(number),
  attempt: version,
  version,
  roundMillis,
});

describe('a crowd', () => {
  it('does not count what it found at first, nor what never changes', () => {
    const crowd = new Crowd(own);
    crowd.observe([entry(1, 5), entry(2, 6)], 1_000);
    assert.equal(crowd.others(1_000).count, 0);
    crowd.observe([entry(1, 5), entry(2, 7)], 2_000);
    assert.equal(crowd.others(2_000).count, 1);
  });

  it('counts a writer that came or changed, for 3 s', () => {
    const crowd = new Crowd(own);
    crowd.observe([], 1_000);
    crowd.observe([entry(1, 5)], 2_000);
    crowd.observe([entry(1, 5), entry(2, 6)], 4_000);
    assert.equal(crowd.others(5_000).count, 2);
    assert.equal(crowd.others(5_001).count, 1);
    assert.equal(crowd.others(7_001).count, 0);
    crowd.observe([entry(1, 7), entry(2, 6)], 8_000);
    assert.equal(crowd.others(8_000).count, 1);
  });

  it('never counts itself', () => {
    const crowd = new Crowd(own);
    crowd.observe([], 0);
    crowd.observe([entry(0, 5)], 10);
    crowd.asked(entry(0, 5), 10);
    assert.equal(crowd.others(20).count, 0);
  });

  it('tells the longest round among the active, believed up to a second', () => {
    const crowd = new Crowd(own);
    crowd.observe([], 0);
    crowd.observe([entry(1, 5, 180), entry(2, 6, 20)], 10);
    assert.equal(crowd.others(20).roundMillis, 180);
    crowd.observe([entry(1, 5, 180), entry(2, 7, 21)], 3_000);
    assert.equal(crowd.others(3_011).roundMillis, 21);
    crowd.observe([entry(1, 8, 1e9)], 4_000);
    assert.equal(crowd.others(4_000).roundMillis, 1_000);
  });

  it('counts who asks for a turn, once even when it has an entry', () => {
    const crowd = new Crowd(own);
    crowd.observe([entry(1, 5)], 0);
    crowd.asked(entry(1, 9, 180), 1_000);
    assert.deepEqual(crowd.others(1_000), { count: 1, roundMillis: 180 });
    crowd.observe([entry(1, 10, 170)], 1_500);
    crowd.asked(entry(2, 9), 2_000);
    assert.equal(crowd.others(2_000).count, 2);
    assert.equal(crowd.others(5_001).count, 0);
  });
});
