import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { advanceManifestTime, type ManifestTimeAdvance, unconfirmedAdvanceMillisMax } from './time.ts';

const base: ManifestTimeAdvance = {
  manifestMillis: 1_000_000,
  lowerMillis: 1_002_000,
  confirmed: false,
  anchorMillis: 1_000_000,
  elapsedSinceAnchorMillis: 0,
};

const day = 86_400_000;
const instant = fc.integer({ min: 0, max: 2 ** 45 });

describe('manifest time', () => {
  it('follows the lower bound while that is near', () => {
    assert.equal(advanceManifestTime(base), 1_002_000);
  });

  it('moves by at most elapsed time + 5 s on the word of an unconfirmed bound, however many commits are made', () => {
    let manifestMillis = base.manifestMillis;
    for (let commit = 0; commit < 10; commit += 1) {
      manifestMillis = advanceManifestTime({
        ...base,
        manifestMillis,
        lowerMillis: base.manifestMillis + day,
        elapsedSinceAnchorMillis: commit * 100,
      });
    }
    assert.equal(manifestMillis, base.anchorMillis + 900 + unconfirmedAdvanceMillisMax);
  });

  it('follows a confirmed bound at once, also after a long pause', () => {
    assert.equal(
      advanceManifestTime({ ...base, confirmed: true, lowerMillis: base.manifestMillis + day }),
      1_000_000 + day,
    );
  });

  it('never goes backwards, never passes the lower bound unless it was there already, and is whole', () => {
    const advance = fc.record({
      manifestMillis: instant,
      lowerMillis: instant,
      confirmed: fc.boolean(),
      anchorMillis: instant,
      elapsedSinceAnchorMillis: fc.double({ min: 0, max: 1e9, noNaN: true }),
    });
    fc.assert(
      fc.property(advance, (value) => {
        const next = advanceManifestTime(value);
        assert.ok(next >= value.manifestMillis);
        assert.ok(next === value.manifestMillis || next <= value.lowerMillis);
        assert.ok(Number.isSafeInteger(next));
      }),
    );
  });
});
