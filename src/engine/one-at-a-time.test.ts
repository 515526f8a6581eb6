import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OneAtATime } from './one-at-a-time.ts';

describe('work that is done one at a time', () => {
  it('begins in the order it came, each when the one before has ended, even by an error', async () => {
    const turns = new OneAtATime();
    const events: string[] = [];
    const work = (name: string, fails = false) =>
      turns.run(async () => {
        events.push(`${name} begins`);
        await new Promise<void>((resolve) => {
          setTimeout(resolve);
        });
        events.push(`${name} ends`);
        if (fails) throw new Error(name);
        return name;
      });
    const results = await Promise.allSettled([work('a'), work('b', true), work('c')]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled'],
    );
    assert.deepEqual(events, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
  });
});
