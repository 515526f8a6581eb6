import assert from 'node:assert/strict';
import process from 'node:process';
import { describe, it } from 'node:test';
import { systemClock } from './clock.ts';
import { createSystemRandom } from './random.ts';

describe('system clock', () => {
  it('ends a sleep at once when its signal fires, before or during it', async () => {
    const controller = new AbortController();
    const sleeping = systemClock.sleep(3_600_000, controller.signal);
    controller.abort();
    await sleeping;
    await systemClock.sleep(3_600_000, controller.signal);
    assert.ok(controller.signal.aborted);
  });

  it('lets any number of sleeps wait on one signal without a warning', async () => {
    const warnings: Error[] = [];
    const warned = (warning: Error) => void warnings.push(warning);
    process.on('warning', warned);
    const controller = new AbortController();
    const sleeps = Array.from({ length: 40 }, () => systemClock.sleep(3_600_000, controller.signal));
    await new Promise((resolve) => setTimeout(resolve, 1));
    controller.abort();
    await Promise.all(sleeps);
    process.off('warning', warned);
    assert.deepEqual(warnings, []);
  });

  it('never goes backwards', () => {
    let last = systemClock.monotonicMillis();
    for (let turn = 0; turn < 1_000; turn += 1) {
      const now = systemClock.monotonicMillis();
      assert.ok(now >= last);
      last = now;
    }
  });
});

describe('system random', () => {
  it('never hands out the same sixteen bytes twice, across blocks', () => {
    const random = createSystemRandom();
    const seen = new Set<string>();
    for (let turn = 0; turn < 2_000; turn += 1) seen.add(random.bytes(16).join());
    assert.equal(seen.size, 2_000);
  });

  it('gives as many bytes as asked, also more than a block', () => {
    const random = createSystemRandom();
    for (const count of [0, 1, 16, 4_095, 4_096, 4_097, 70_000])
      assert.equal(random.bytes(count).length, count);
    assert.ok(
      random
        .bytes(70_000)
        .subarray(69_000)
        .some((byte) => byte !== 0),
    );
  });

  it('draws units in [0, 1) that fill it', () => {
    const random = createSystemRandom();
    let low = 0;
    for (let turn = 0; turn < 10_000; turn += 1) {
      const unit = random.unit();
      assert.ok(unit >= 0 && unit < 1);
      if (unit < 0.5) low += 1;
    }
    assert.ok(low > 4_500 && low < 5_500);
  });
});
