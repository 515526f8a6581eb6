import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BodyPace } from './body-pace.ts';
import { BODY_BYTES_MAX, BODY_BYTES_PER_SECOND_MIN, BODY_PATIENCE_MILLIS } from './limits.ts';

const pace = { patienceMillis: BODY_PATIENCE_MILLIS, bytesPerSecondMin: BODY_BYTES_PER_SECOND_MIN };

/** The second in which it ends when looked at once a second; `bytesAt` is what had come by then. */
function endsAtSecond(bytesAt: (second: number) => number): number {
  const body = new BodyPace(pace, 0, bytesAt(0));
  for (let second = 1; second < 600; second += 1)
    if (body.isTooSlow(second * 1_000, bytesAt(second))) return second;
  return Number.POSITIVE_INFINITY;
}

describe('body pace', () => {
  it('lets a body at the least pace go on to its end', () => {
    assert.equal(
      endsAtSecond((second) => BODY_BYTES_PER_SECOND_MIN * second),
      Number.POSITIVE_INFINITY,
    );
  });

  it('lets a body pause for as long as its patience, again and again when it makes up for it', () => {
    const burst = 10 * BODY_BYTES_PER_SECOND_MIN;
    assert.equal(
      endsAtSecond((second) => burst * Math.floor(second / 10)),
      Number.POSITIVE_INFINITY,
    );
  });

  it('ends one that brings nothing', () => {
    assert.equal(
      endsAtSecond(() => 4_711),
      11,
    );
  });

  it('ends one that came nearly whole and then drips no later than others', () => {
    assert.equal(
      endsAtSecond((second) => (second === 0 ? 0 : BODY_BYTES_MAX - 600 + second)),
      12,
    );
  });

  it('ends one at half the pace when its patience is used up', () => {
    assert.equal(
      endsAtSecond((second) => (BODY_BYTES_PER_SECOND_MIN / 2) * second),
      21,
    );
  });
});
