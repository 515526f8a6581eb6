import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isOver } from '../../bench/scale/figures.ts';
import { ScaleBucket } from '../../bench/scale/scale-bucket.ts';
import { Sizes } from '../../bench/scale/sizes.ts';
import { summary } from '../../bench/scale/table.ts';
import type { ETag } from '../../src/store/object-store.ts';

const figure = { name: 'manifest, max', unit: 'bytes' as const };

describe('the bounds of just scale', () => {
  it('are kept up to their value, and never by what could not be measured', () => {
    assert.equal(isOver({ ...figure, value: 2 }), false);
    assert.equal(isOver({ ...figure, value: 2, most: 2 }), false);
    assert.equal(isOver({ ...figure, value: 2.1, most: 2 }), true);
    assert.equal(isOver({ ...figure, value: 1.9, least: 2, most: 3 }), true);
    assert.equal(isOver({ ...figure, value: Number.NaN, most: 2 }), true);
  });

  it('show the worst of several phases, bold when one is over', () => {
    const phase = (name: string, value: number) => ({
      ...figure,
      name: `${name}: manifest, max`,
      value,
      most: 2048,
    });
    const row = { row: 'delayed', figures: [phase('delayed', 4096), phase('due', 1024)] };
    assert.match(summary([row]), /^\| delayed \| \*\*4\.0 KiB\*\* \|/m);
  });
});

describe('sizes', () => {
  it('give quantiles of any number of values', () => {
    const sizes = new Sizes();
    assert.ok(Number.isNaN(sizes.median));
    for (let n = 3000; n > 0; n--) sizes.add(n);
    assert.deepEqual([sizes.count, sizes.median, sizes.max, sizes.quantile(0.99)], [3000, 1501, 3000, 2971]);
  });
});

describe('the bucket of just scale', () => {
  it('gives back what it got, and charges a commit with all that was put for it', async () => {
    const bucket = new ScaleBucket(() => 0);
    try {
      const segment = (nonce: string) =>
        `s/01234567-jobs-1/${'0'.repeat(32)}/seg/${'0'.repeat(16)}-${nonce.repeat(16)}`;
      await bucket.put(segment('a'), new Uint8Array(1000).fill(7));
      await bucket.put(segment('b'), Uint8Array.of(1, 2, 3));
      const created = await bucket.putIfAbsent('m/jobs-1', new Uint8Array(10));
      assert.equal(created.kind, 'done');
      await bucket.putIfAbsent('m/jobs', new Uint8Array(30));
      assert.deepEqual([bucket.commits.max, bucket.commits.quantile(0), bucket.commits.count], [1013, 30, 2]);
      bucket.watch();
      const lost = await bucket.putIfMatch('m/jobs', new Uint8Array(500), '"another"' as ETag);
      assert.equal(lost.kind, 'conflict');
      assert.deepEqual([bucket.commits.count, bucket.manifestBytesMax, bucket.storedBytes], [0, 30, 1003]);
      const found = await bucket.get(segment('b'));
      assert.deepEqual(found.kind === 'done' && [...found.body], [1, 2, 3]);
    } finally {
      bucket.close();
    }
  });
});
